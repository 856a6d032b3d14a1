import { useEffect, useRef } from 'react'
import { OnChain } from '../parts/networks.tsx'
import { Problem } from '../parts/problem.tsx'
import { useRun } from '../session/use-run.ts'
import type { SentPayment } from './sent-payment.ts'

interface SentBannerProps {
  readonly sent: SentPayment
  /** What it was made for. */
  readonly what?: string
  /** Whether a wallet has to sign it, so that it is not named by itself. */
  readonly isSigned: boolean
  readonly onName: () => Promise<unknown>
  readonly onForget: () => void
}

/** A payment was made, and the API does not know it yet: a page was closed, or a response was lost. */
export function SentBanner({ sent, what = 'this order', isSigned, onName, onForget }: SentBannerProps) {
  const { isRunning, error, run } = useRun()
  const isNamed = useRef(false)
  useEffect(() => {
    if (isSigned || isNamed.current) return
    isNamed.current = true
    void run(onName)
  }, [isSigned, run, onName])
  return (
    <div className="stack-2">
      <p className="banner accent">
        <span>
          {'hash' in sent ? (
            <>
              <strong>You have sent a transfer for {what}. Do not pay again.</strong>{' '}
              <OnChain network={sent.network} kind="transaction" text={sent.hash} /> is saved in this browser.
            </>
          ) : (
            <>
              <strong>You have signed a payment for {what}. Do not pay again.</strong> It is saved in this
              browser until the market has it. Within minutes it expires by itself.
            </>
          )}
        </span>
      </p>
      <Problem error={error} />
      {(isSigned || error !== undefined) && (
        <div className="line-up wrap-ok">
          <button className="btn" type="button" disabled={isRunning} onClick={() => void run(onName)}>
            {isRunning ? 'One moment …' : 'hash' in sent ? 'Name it again' : 'Send it again'}
          </button>
          <button className="btn quiet" type="button" onClick={onForget}>
            {'hash' in sent ? 'It was for something else' : 'Discard it'}
          </button>
        </div>
      )}
    </div>
  )
}
