import { createHash, timingSafeEqual } from 'node:crypto'
import { type CallerKind, isWrite, type Operation } from '@market/contract/define'
import type { Actor, Context } from '@market/core/context'
import type { LoginProvider } from '@market/core/ports/login'
import { walletsOf } from '@market/identity/accounts'
import { API_KEY_PREFIX, findAgentByKey } from '@market/identity/agents'
import { findOwnSession, openUserSession, openWalletSession, sessionKindOf } from '@market/identity/sessions'
import { ApiError } from '@market/kernel/api-error'
import type { Call, Credentials } from './call.ts'
import type { Caller } from './caller.ts'
import { ADMIN_KEY_PREFIX, digestOf, secretCredential } from './credential.ts'
import { parseWalletFields, verifyWallet } from './verify-wallet.ts'

export interface Operators {
  /** Identity-provider ids of the users who are operators. */
  readonly userIds: ReadonlySet<string>
  /** Read-only keys, by name, as SHA-256. */
  readonly keys: readonly { readonly name: string; readonly sha256: Buffer }[]
}

type Ports = Pick<Context, 'db' | 'vault' | 'identity' | 'signatures' | 'clock'> & {
  readonly login?: LoginProvider | undefined
}

const ANONYMOUS: Caller = { actor: { kind: 'anonymous' } }

/**
 * Authenticates the caller. A credential must be valid, unless the operation is public and does not use its kind. An
 * access token that is not valid leaves the decision to a wallet signature beside it.
 */
export async function identify(ports: Ports, operators: Operators, call: Call): Promise<Caller> {
  if (call.caller !== undefined) return call.caller
  const { operation, credentials } = call
  const kinds = credentialKinds(operation, credentials)
  const [kind, second] = isPublic(operation) ? kinds.filter((one) => isUsed(call, one)) : kinds
  if (kind === undefined) return ANONYMOUS
  if (second === undefined) {
    try {
      return await authenticate(ports, operators, call, kind)
    } catch (error) {
      // fix: ended-session-public
      if (isPublic(operation) && isOfSession(credentials) && isEnded(error)) return ANONYMOUS
      throw error
    }
  }
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

/** The cookie of a session is the only credential. */
const isOfSession = ({ bearer, bodyToken, wallet, cookieToken = '' }: Credentials): boolean =>
  bearer === undefined &&
  bodyToken === undefined &&
  wallet === undefined &&
  sessionKindOf(cookieToken) !== undefined

const isEnded = (error: unknown): boolean =>
  error instanceof ApiError && error.kind === 'unauthenticated' && error.code === 'bad_token'

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

type CredentialKind = 'agent' | 'admin_key' | 'user' | 'wallet' | 'wallet_session'

const isPublic = (operation: Operation): boolean => operation.callers.includes('anonymous')

/** Of a public operation: whether the credential changes the response, also by saying who `me` is. */
const isUsed = (call: Call, kind: CredentialKind): boolean =>
  // fix: me-of-key
  accepts(call.operation, kind) || (kind === 'agent' && namesOwnAgent(call))

/** `me` is the caller's own agent, wherever an operation takes an `agent_id`. */
export const namesOwnAgent = ({ input }: Pick<Call, 'input'>): boolean => input['agent_id'] === 'me'

function accepts(operation: Operation, kind: CredentialKind): boolean {
  const callers = CALLERS[kind]
  return callers.some((caller) => operation.callers.includes(caller))
}

const CALLERS: Readonly<Record<CredentialKind, readonly CallerKind[]>> = {
  agent: ['agent'],
  admin_key: ['admin_key'],
  user: ['user', 'admin'],
  wallet: ['wallet'],
  wallet_session: ['wallet'],
}

/**
 * In the order in which they count. Another token overrides the cookie, which a browser sends by itself; a wallet
 * signature is second to both. A session of a wallet counts only alone.
 */
function credentialKinds(operation: Operation, credentials: Credentials): CredentialKind[] {
  const { bearer, bodyToken, wallet, cookieToken } = credentials
  const kinds: CredentialKind[] = []
  if (bearer !== undefined) kinds.push(kindOfBearer(bearer))
  if (bodyToken !== undefined && bodyToken !== bearer) kinds.push('user')
  if (kinds.length > 1) throw twoCredentials()
  const cookieKind = cookieToken === undefined ? undefined : kindOfCookie(cookieToken)
  if (kinds.length === 0 && cookieKind === 'user' && accepts(operation, 'user')) kinds.push('user')
  if (wallet === undefined)
    return kinds.length === 0 && cookieKind === 'wallet_session' ? ['wallet_session'] : kinds
  if (kinds.length === 0 || kinds[0] === 'user') return [...kinds, 'wallet']
  const [first] = kinds
  if (operation.cosigned !== true || first === undefined || !accepts(operation, first)) throw twoCredentials()
  return kinds
}

export const twoCredentials = (): ApiError =>
  new ApiError(
    'invalid',
    'This request is signed as two different users. Send one API key, access token or wallet signature.',
    { code: 'two_credentials' },
  )

function kindOfBearer(bearer: string): CredentialKind {
  if (bearer.startsWith(API_KEY_PREFIX)) return 'agent'
  return bearer.startsWith(ADMIN_KEY_PREFIX) ? 'admin_key' : 'user'
}

const kindOfCookie = (token: string): CredentialKind =>
  sessionKindOf(token) === 'wallet' ? 'wallet_session' : 'user'

async function authenticate(
  ports: Ports,
  operators: Operators,
  call: Call,
  kind: CredentialKind,
): Promise<Caller> {
  const { bearer = '', bodyToken, cookieToken } = call.credentials
  // fix: logout-without-provider
  if (call.operation.setsCookie === true && isOfSession(call.credentials))
    return sessionOwner(ports, cookieToken ?? '')
  switch (kind) {
    case 'agent': {
      const agent = await findAgentByKey(ports, bearer)
      const actor = { kind: 'agent', agentId: agent.id, credential: secretCredential(bearer) } as const
      return withCosigner(ports, call, { actor, agent })
    }
    case 'admin_key':
      return {
        actor: {
          kind: 'admin_key',
          name: adminKeyName(operators, bearer),
          credential: secretCredential(bearer),
        },
      }
    case 'user': {
      if (bearer === '' && bodyToken === undefined && sessionKindOf(cookieToken ?? '') === 'user')
        return authenticateSession(ports, operators, cookieToken ?? '')
      const token = bearer || (bodyToken ?? cookieToken ?? '')
      const { userId, loginAgeSeconds, isAdmin } = await ports.identity.verify(token)
      const admin = isOperator(operators, userId, isAdmin)
      const actor = { kind: 'user', userId, token, admin, credential: secretCredential(token) } as const
      return { actor, loginAgeSeconds }
    }
    case 'wallet_session':
      return authenticateWalletSession(ports, call)
    case 'wallet': {
      const { wallet, singleUse } = await verifyWallet(ports, call, undefined)
      const credential = { kind: 'wallet_signature', id: wallet.key } as const
      return {
        actor: { kind: 'wallet', wallet, credential },
        ...(singleUse && { singleUse }),
        ...(cookieToken !== undefined && { otherSession: cookieToken }),
      }
    }
  }
}

/** Listed here and named by the provider: neither a stolen configuration nor a stolen role is enough alone. */
const isOperator = ({ userIds }: Operators, userId: string, isAdmin: boolean): boolean =>
  isAdmin && userIds.has(userId)

/** No token is opened, so that a browser signs out also while the provider or a node cannot be reached. */
async function sessionOwner(ports: Ports, token: string): Promise<Caller> {
  const found = await findOwnSession(ports, token)
  const credential = { kind: 'login', id: digestOf(token) } as const
  const actor: Actor =
    'wallet' in found
      ? { kind: 'wallet', wallet: found.wallet, credential }
      : { kind: 'user', userId: found.userId, admin: false, credential }
  return { actor, session: { token, expiresAt: found.expiresAt } }
}

async function authenticateSession(ports: Ports, operators: Operators, token: string): Promise<Caller> {
  const { userId, accessToken, expiresAt } = await openUserSession(ports, token)
  const verified = await ports.identity.verify(accessToken)
  if (verified.userId !== userId) throw new Error('the access token of a session is for another user')
  const actor = {
    kind: 'user',
    userId,
    token: accessToken,
    admin: isOperator(operators, userId, verified.isAdmin),
    credential: { kind: 'login', id: digestOf(token) },
  } as const
  return { actor, loginAgeSeconds: verified.loginAgeSeconds, session: { token, expiresAt } }
}

/** The cookie is sent by the browser itself, so it reads only: whoever steals it, or makes the browser send it, changes nothing. */
async function authenticateWalletSession(ports: Ports, { operation, credentials }: Call): Promise<Caller> {
  const { cookieToken: token = '' } = credentials
  // fix: session-reads-only
  if (isWrite(operation)) throw readsOnly(operation)
  const { wallet, expiresAt } = await openWalletSession(ports, token)
  const credential = { kind: 'login', id: digestOf(token) } as const
  return { actor: { kind: 'wallet', wallet, credential }, session: { token, expiresAt } }
}

function readsOnly(operation: Operation): ApiError {
  const isSigned = accepts(operation, 'wallet') && operation.purpose !== undefined
  const message = isSigned
    ? 'The session of a wallet only reads. This request needs a signature: sign its message and send wallet, wallet_sig and wallet_sig_ts.'
    : 'The session of a wallet only reads, and a signature of a wallet is not enough here. Sign in as a user.'
  return new ApiError('unauthenticated', message, {
    code: isSigned ? 'signature_missing' : 'credentials_missing',
  })
}

function adminKeyName(operators: Operators, key: string): string {
  const digest = createHash('sha256').update(key).digest()
  const found = operators.keys.filter(({ sha256 }) => timingSafeEqual(sha256, digest))[0]
  if (found === undefined) {
    throw new ApiError('unauthenticated', 'This operator key is not valid', { code: 'bad_admin_key' })
  }
  return found.name
}
