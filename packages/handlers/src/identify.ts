import { createHash, timingSafeEqual } from 'node:crypto'
import type { CallerKind, Operation } from '@market/contract/define'
import type { Context } from '@market/core/context'
import { API_KEY_PREFIX, findAgentByKey } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { Call, Credentials } from './call.ts'
import type { Caller } from './caller.ts'
import { verifyWallet } from './verify-wallet.ts'

export interface Operators {
  /** Identity-provider ids of the users who are operators. */
  readonly userIds: ReadonlySet<string>
  /** Read-only keys, by name, as SHA-256. */
  readonly keys: readonly { readonly name: string; readonly sha256: Buffer }[]
}

type Ports = Pick<Context, 'db' | 'vault' | 'identity' | 'signatures' | 'clock'>

const ADMIN_KEY_PREFIX = 'adm_'

const ANONYMOUS: Caller = { actor: { kind: 'anonymous' } }

/** Authenticates the caller. A credential must be valid, unless the operation is public and does not use its kind. */
export async function identify(ports: Ports, operators: Operators, call: Call): Promise<Caller> {
  const { operation, credentials } = call
  const kind = credentialKind(operation, credentials)
  if (kind === undefined) return ANONYMOUS
  if (isPublic(operation) && !accepts(operation, kind)) return ANONYMOUS
  return authenticate(ports, operators, call, kind)
}

type CredentialKind = 'agent' | 'admin_key' | 'user' | 'wallet'

const isPublic = (operation: Operation): boolean => operation.callers.includes('anonymous')

function accepts(operation: Operation, kind: CredentialKind): boolean {
  const callers: readonly CallerKind[] = kind === 'user' ? ['user', 'admin'] : [kind]
  return callers.some((caller) => operation.callers.includes(caller))
}

/** An explicit credential overrides the cookie, which a browser sends by itself. */
function credentialKind(operation: Operation, credentials: Credentials): CredentialKind | undefined {
  const { bearer, bodyToken, wallet, cookieToken } = credentials
  const kinds: CredentialKind[] = []
  if (bearer !== undefined) kinds.push(kindOfBearer(bearer))
  if (bodyToken !== undefined && bodyToken !== bearer) kinds.push('user')
  if (wallet !== undefined && !(operation.cosigned && kinds.length > 0)) kinds.push('wallet')
  if (kinds.length > 1) {
    throw new ApiError(
      'invalid',
      'This request is signed as two different users. Send one API key, access token or wallet signature.',
      {
        code: 'two_credentials',
      },
    )
  }
  return kinds[0] ?? (cookieToken === undefined ? undefined : 'user')
}

function kindOfBearer(bearer: string): CredentialKind {
  if (bearer.startsWith(API_KEY_PREFIX)) return 'agent'
  return bearer.startsWith(ADMIN_KEY_PREFIX) ? 'admin_key' : 'user'
}

async function authenticate(
  ports: Ports,
  operators: Operators,
  call: Call,
  kind: CredentialKind,
): Promise<Caller> {
  const { bearer = '', bodyToken, cookieToken } = call.credentials
  switch (kind) {
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
      const { userId, loginAgeSeconds } = await ports.identity.verify(token)
      const actor = { kind: 'user', userId, token, admin: operators.userIds.has(userId) } as const
      return { actor, loginAgeSeconds }
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
