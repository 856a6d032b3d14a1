import { createHash, timingSafeEqual } from 'node:crypto'
import type { CallerKind, Operation } from '@market/contract/define'
import type { Context } from '@market/core/context'
import { walletsOf } from '@market/identity/accounts'
import { API_KEY_PREFIX, findAgentByKey } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { Call, Credentials } from './call.ts'
import type { Caller } from './caller.ts'
import { parseWalletFields, verifyWallet } from './verify-wallet.ts'

export interface Operators {
  /** Identity-provider ids of the users who are operators. */
  readonly userIds: ReadonlySet<string>
  /** Read-only keys, by name, as SHA-256. */
  readonly keys: readonly { readonly name: string; readonly sha256: Buffer }[]
}

type Ports = Pick<Context, 'db' | 'vault' | 'identity' | 'signatures' | 'clock'>

export const ADMIN_KEY_PREFIX = 'adm_'

const ANONYMOUS: Caller = { actor: { kind: 'anonymous' } }

/**
 * Authenticates the caller. A credential must be valid, unless the operation is public and does not use its kind. An
 * access token that is not valid leaves the decision to a wallet signature beside it.
 */
export async function identify(ports: Ports, operators: Operators, call: Call): Promise<Caller> {
  if (call.caller !== undefined) return call.caller
  const { operation, credentials } = call
  const kinds = credentialKinds(operation, credentials)
  const [kind, second] = isPublic(operation) ? kinds.filter((one) => accepts(operation, one)) : kinds
  if (kind === undefined) return ANONYMOUS
  if (second === undefined) return authenticate(ports, operators, call, kind)
  let caller: Caller
  try {
    caller = await authenticate(ports, operators, call, kind)
    if (operation.cosigned !== true) await requireLinkedWallet(ports, call, caller)
  } catch (error) {
    // fix: signature-replaces-token
    if (!isUnauthenticated(error) || !accepts(operation, second)) throw error
    return authenticate(ports, operators, call, second)
  }
  return accepts(operation, kind) ? withCosigner(ports, call, caller) : caller
}

/** Adds the wallet that signed beside another credential, where the operation allows that. */
async function withCosigner(ports: Ports, call: Call, caller: Caller): Promise<Caller> {
  if (call.credentials.wallet === undefined || call.operation.cosigned !== true) return caller
  const { wallet, singleUse } = await verifyWallet(ports, call, caller.agent?.id)
  return { ...caller, cosigner: wallet, ...(singleUse && { singleUse }) }
}

const isUnauthenticated = (error: unknown): boolean =>
  error instanceof ApiError && error.kind === 'unauthenticated'

/** A token and a signature are one caller only when the wallet is linked to the user. */
async function requireLinkedWallet(ports: Ports, { credentials }: Call, { actor }: Caller): Promise<void> {
  if (credentials.wallet === undefined || actor.kind !== 'user' || actor.token === undefined) return
  const { wallet } = parseWalletFields(ports, credentials.wallet)
  const linked = walletsOf(await ports.identity.fetchProfile(actor.token), ports.signatures)
  // fix: linked-wallet
  if (!linked.some(({ key }) => key === wallet.key)) throw twoCredentials()
}

type CredentialKind = 'agent' | 'admin_key' | 'user' | 'wallet'

const isPublic = (operation: Operation): boolean => operation.callers.includes('anonymous')

function accepts(operation: Operation, kind: CredentialKind): boolean {
  const callers: readonly CallerKind[] = kind === 'user' ? ['user', 'admin'] : [kind]
  return callers.some((caller) => operation.callers.includes(caller))
}

/**
 * In the order in which they count. Another token overrides the cookie, which a browser sends by itself; a wallet
 * signature is second to both.
 */
function credentialKinds(operation: Operation, credentials: Credentials): CredentialKind[] {
  const { bearer, bodyToken, wallet, cookieToken } = credentials
  const kinds: CredentialKind[] = []
  if (bearer !== undefined) kinds.push(kindOfBearer(bearer))
  if (bodyToken !== undefined && bodyToken !== bearer) kinds.push('user')
  if (kinds.length > 1) throw twoCredentials()
  if (kinds.length === 0 && cookieToken !== undefined) kinds.push('user')
  if (wallet === undefined) return kinds
  if (kinds.length === 0 || kinds[0] === 'user') return [...kinds, 'wallet']
  if (operation.cosigned !== true) throw twoCredentials()
  return kinds
}

const twoCredentials = (): ApiError =>
  new ApiError(
    'invalid',
    'This request is signed as two different users. Send one API key, access token or wallet signature.',
    { code: 'two_credentials' },
  )

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
      return withCosigner(ports, call, { actor: { kind: 'agent', agentId: agent.id }, agent })
    }
    case 'admin_key':
      return { actor: { kind: 'admin_key', name: adminKeyName(operators, bearer) } }
    case 'user': {
      const token = bearer || (bodyToken ?? cookieToken ?? '')
      const { userId, loginAgeSeconds, isAdmin } = await ports.identity.verify(token)
      // Listed here and named by the provider: neither a stolen configuration nor a stolen role is enough alone.
      const admin = isAdmin && operators.userIds.has(userId)
      const actor = { kind: 'user', userId, token, admin } as const
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
