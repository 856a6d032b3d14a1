import { MarketError } from '@market/sdk/client'
import { AlertIcon } from './icons.tsx'

/** The user said no in the wallet. The code of wallets is not loaded here, and its errors have stable names. */
const isRejection = (error: unknown): boolean => error instanceof Error && error.name === 'WalletRejected'

/** A failure as a sentence: those of the API say what to do. */
function sentenceOf(error: unknown): string {
  if (isRejection(error)) return 'You rejected the request in the wallet. Nothing was sent.'
  if (error instanceof MarketError && error.retryAfterSeconds !== undefined)
    return `${error.message} Try again in ${error.retryAfterSeconds} s.`
  return error instanceof Error ? error.message : 'The wallet did not answer.'
}

/** What went wrong with the last request of a form. */
export const Problem = ({ error }: { readonly error: unknown }) => (
  <div role="alert">
    {error !== undefined && (
      <p className={isRejection(error) ? 'banner warn' : 'banner bad'}>
        <AlertIcon />
        <span className="any-word">
          {sentenceOf(error)}
          {error instanceof MarketError && error.requestId !== undefined && (
            <span className="mono xs"> {error.requestId}</span>
          )}
        </span>
      </p>
    )}
  </div>
)
