import type { CallerKind, Operation } from '@market/contract/define'
import type { Actor } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'

/** What to show, for each kind of caller, in the words of somebody who has to do it. */
const HOW: Readonly<Record<CallerKind, string>> = {
  anonymous: 'no credential',
  agent: 'an agent’s API key (Authorization: Bearer market_…)',
  user: 'an identity-provider token (Authorization: Bearer …)',
  wallet: 'a wallet signature (wallet, wallet_sig, wallet_sig_ts)',
  admin_key: 'an operator’s key (Authorization: Bearer adm_…)',
  admin: 'an operator’s identity-provider token',
}

export function authorize(operation: Operation, actor: Actor): void {
  const kinds: CallerKind[] = actor.kind === 'user' && actor.admin ? ['user', 'admin'] : [actor.kind]
  if (operation.callers.includes('anonymous') || kinds.some((kind) => operation.callers.includes(kind)))
    return
  const wanted = operation.callers.map((kind) => HOW[kind]).join(', or ')
  if (actor.kind === 'anonymous') {
    throw new ApiError('unauthenticated', `This call needs ${wanted}`, { code: 'credentials_missing' })
  }
  throw new ApiError('forbidden', `This call is not open to this credential; it needs ${wanted}`, {
    code: 'wrong_credential',
  })
}
