import type { OperationId } from '@market/contract/operations'

interface Secret {
  readonly name: 'api_key' | 'webhook_secret'
  readonly form: RegExp
  /** The only operations whose responses may contain it unmasked. */
  readonly showers: ReadonlySet<string>
}

const showers = (...ids: readonly OperationId[]): ReadonlySet<string> => new Set(ids)

export const SECRETS: readonly Secret[] = [
  { name: 'api_key', form: /market_[0-9A-Za-z]{49}/g, showers: showers('registerAgent', 'recoverAgents') },
  {
    name: 'webhook_secret',
    form: /whsec_[\w-]{43}/g,
    showers: showers('registerAgent', 'getMyAgent', 'updateMyAgent'),
  },
]

/** The unmasked secrets in a text. */
export const shownSecrets = (text: string): (Secret & { readonly text: string })[] =>
  SECRETS.flatMap((secret) => [...text.matchAll(secret.form)].map(([found]) => ({ ...secret, text: found })))
