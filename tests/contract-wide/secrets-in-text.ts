import type { OperationId } from '@market/contract/operations'

interface Secret {
  readonly name: 'api_key' | 'webhook_secret'
  readonly form: RegExp
  /** The only operations whose responses may contain it unmasked. */
  readonly returnedBy: ReadonlySet<string>
}

const returnedBy = (...ids: readonly OperationId[]): ReadonlySet<string> => new Set(ids)

export const SECRETS: readonly Secret[] = [
  {
    name: 'api_key',
    form: /market_[0-9A-Za-z]{49}/g,
    returnedBy: returnedBy('registerAgent', 'recoverAgents', 'rotateKey'),
  },
  {
    name: 'webhook_secret',
    form: /whsec_[\w-]{43}/g,
    returnedBy: returnedBy('registerAgent', 'getMyAgent', 'updateMyAgent', 'rotateKey'),
  },
]

/** The unmasked secrets in a text. */
export const findSecrets = (text: string): (Secret & { readonly text: string })[] =>
  SECRETS.flatMap((secret) => [...text.matchAll(secret.form)].map(([found]) => ({ ...secret, text: found })))
