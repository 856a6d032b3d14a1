import { createHash, timingSafeEqual } from 'node:crypto'
import type { CallerKind, Operation } from '@market/contract/define'
import type { Context } from '@market/core/context'
import { API_KEY_PREFIX, findAgentByKey } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { Call, Credentials } from './call.ts'
import type { Caller } from './caller.ts'
import { verifyWallet } from './verify-wallet.ts'

export interface Operators {
  /** The identity provider's ids of the people who may administer. */
  readonly userIds: ReadonlySet<string>
  /** Keys for reading, by name, as SHA-256. */
  readonly keys: readonly { readonly name: string; readonly sha256: Buffer }[]
}

type Ports = Pick<Context, 'db' | 'vault' | 'identity' | 'signatures' | 'clock'>

const ADMIN_KEY_PREFIX = 'adm_'

const ANONYMOUS: Caller = { actor: { kind: 'anonymous' } }

/** Finds out who calls. A credential that is shown must be right, unless the operation has no use for its kind. */
export async function identify(ports: Ports, operators: Operators, call: Call): Promise<Caller> {
  const { operation, credentials } = call
  const shown = kindShown(operation, credentials)
  if (shown === undefined) return ANONYMOUS
  if (takesAnyone(operation) && !takes(operation, shown)) return ANONYMOUS
  return check(ports, operators, call, shown)
}

type Shown = 'agent' | 'admin_key' | 'user' | 'wallet'

const takesAnyone = (operation: Operation): boolean => operation.callers.includes('anonymous')

function takes(operation: Operation, shown: Shown): boolean {
  const kinds: readonly CallerKind[] = shown === 'user' ? ['user', 'admin'] : [shown]
  return kinds.some((kind) => operation.callers.includes(kind))
}

/** Something said on purpose counts before a cookie, which a browser sends by itself. */
function kindShown(operation: Operation, shown: Credentials): Shown | undefined {
  const kinds: Shown[] = []
  if (shown.bearer !== undefined) kinds.push(kindOfBearer(shown.bearer))
  if (shown.bodyToken !== undefined && shown.bodyToken !== shown.bearer) kinds.push('user')
  if (shown.wallet !== undefined && !(operation.cosigned && kinds.length > 0)) kinds.push('wallet')
  if (kinds.length > 1) {
    throw new ApiError(
      'invalid',
      'Show one credential: an API key, an identity-provider token or a wallet signature',
      {
        code: 'two_credentials',
      },
    )
  }
  return kinds[0] ?? (shown.cookieToken === undefined ? undefined : 'user')
}

function kindOfBearer(bearer: string): Shown {
  if (bearer.startsWith(API_KEY_PREFIX)) return 'agent'
  return bearer.startsWith(ADMIN_KEY_PREFIX) ? 'admin_key' : 'user'
}

async function check(ports: Ports, operators: Operators, call: Call, shown: Shown): Promise<Caller> {
  const { bearer = '', bodyToken, cookieToken } = call.credentials
  switch (shown) {
    case 'agent': {
      const agent = await findAgentByKey(ports, bearer)
      const caller: Caller = { actor: { kind: 'agent', agentId: agent.id }, agent }
      if (call.credentials.wallet === undefined || call.operation.cosigned !== true) return caller
      const proof = await verifyWallet(ports, call, agent.id)
      return { ...caller, cosigner: proof.wallet, ...(proof.singleUse && { singleUse: proof.singleUse }) }
    }
    case 'admin_key':
      return { actor: { kind: 'admin_key', name: adminKeyName(operators, bearer) } }
    case 'user': {
      const token = bearer || (bodyToken ?? cookieToken ?? '')
      const { userId } = await ports.identity.verify(token)
      return { actor: { kind: 'user', userId, token, admin: operators.userIds.has(userId) } }
    }
    case 'wallet': {
      const { wallet, singleUse } = await verifyWallet(ports, call, undefined)
      return { actor: { kind: 'wallet', wallet }, ...(singleUse && { singleUse }) }
    }
  }
}

function adminKeyName(operators: Operators, key: string): string {
  const digest = createHash('sha256').update(key).digest()
  const found = operators.keys.filter(({ sha256 }) => timingSafeEqual(sha256, digest))[0]
  if (found === undefined) {
    throw new ApiError('unauthenticated', 'This operator key is not valid', { code: 'bad_admin_key' })
  }
  return found.name
}
