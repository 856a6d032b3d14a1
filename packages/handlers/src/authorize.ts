import { type CallerKind, type Operation, RECENT_LOGIN_SECONDS } from '@market/contract/define'
import type { Actor } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import type { Caller } from './caller.ts'

/** The credential that each kind of caller sends. */
const CREDENTIAL: Readonly<Record<CallerKind, string>> = {
  anonymous: 'no credential',
  agent: 'an agent’s API key (Authorization: Bearer market_…)',
  user: 'an identity-provider access token (Authorization: Bearer …)',
  wallet: 'a wallet signature (wallet, wallet_sig, wallet_sig_ts)',
  admin_key: 'an operator’s key (Authorization: Bearer adm_…)',
  admin: 'an operator’s identity-provider access token',
}

export function authorize(operation: Operation, actor: Actor): void {
  const kinds: CallerKind[] = actor.kind === 'user' && actor.admin ? ['user', 'admin'] : [actor.kind]
  if (operation.callers.includes('anonymous') || kinds.some((kind) => operation.callers.includes(kind)))
    return
  const accepted = operation.callers.map((kind) => CREDENTIAL[kind]).join(', or ')
  if (actor.kind === 'anonymous') {
    throw new ApiError('unauthenticated', `This request needs ${accepted}`, { code: 'credentials_missing' })
  }
  throw new ApiError('forbidden', `This credential cannot be used here. Send ${accepted}.`, {
    code: 'wrong_credential',
  })
}

const MINUTE_SECONDS = 60

/** Checks when the user signed in, where the operation asks for it. A wallet signs each request, so it has no login. */
export function requireRecentLogin(operation: Operation, { actor, loginAgeSeconds: age }: Caller): void {
  if (operation.recentLogin !== true || actor.kind === 'wallet') return
  // fix: recent-login
  if (typeof age === 'number' && age <= RECENT_LOGIN_SECONDS) return
  const limit = `a login at most ${RECENT_LOGIN_SECONDS / MINUTE_SECONDS} minutes old`
  const message =
    typeof age === 'number'
      ? `This request needs ${limit}, and yours is ${Math.floor(age / MINUTE_SECONDS)} minutes old.`
      : `This request needs ${limit}, and the access token has no auth_time claim.`
  throw new ApiError(
    'unauthenticated',
    `${message} Sign in again (max_age=${RECENT_LOGIN_SECONDS}) and send the new access token.`,
    { code: 'login_too_old' },
  )
}
