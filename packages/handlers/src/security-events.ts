import { createHash } from 'node:crypto'
import type { Operation } from '@market/contract/define'
import type { OperationId } from '@market/contract/operations'
import { type Actor, nameOf } from '@market/core/context'
import { API_KEY_PREFIX } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { Call, Credentials } from './call.ts'
import { ADMIN_KEY_PREFIX } from './identify.ts'

/** One line of the security log. docs/operations/security-events.md lists the events; their names do not change. */
export interface SecurityEvent {
  readonly event: string
  readonly outcome: 'done' | 'rejected'
  readonly operation: string
  readonly caller: string
  readonly credential: CredentialName
  /** Tells two credentials apart without containing either. */
  readonly credential_id: string | null
  readonly client: string
  readonly request_id: string
  readonly subject: string | null
  readonly code?: string
  readonly details?: Readonly<Record<string, unknown>>
}

type Input = Readonly<Record<string, unknown>>
type CredentialName = 'api_key' | 'operator_key' | 'access_token' | 'wallet_signature' | 'none'

interface Rule {
  readonly event: string
  /** The field of the input that names what changed. Default: the caller. */
  readonly subject?: string
  /** Fields of the input that are logged. None of them is a secret. */
  readonly details?: readonly string[]
  /** Only when the request has one of the fields in `details`. */
  readonly optional?: true
}

const PAYOUT_FIELDS = ['payout_wallet', 'payout_address_base', 'payout_chain', 'address']
const PAYOUT = { event: 'agent.payout_address_changed', details: PAYOUT_FIELDS } as const
const approval = (event: string): Rule => ({ event, subject: 'approval_id', details: ['kind', 'reason'] })

/** The event of each operation that changes credentials, payees, switches or money of others. */
export const SECURITY_EVENTS: Readonly<Partial<Record<OperationId, Rule>>> = {
  signIn: { event: 'login.succeeded' },
  deleteProfile: { event: 'account.deleted' },
  recoverAgents: { event: 'agent.keys_recovered', subject: 'agent_name' },
  rotateKey: { event: 'agent.key_rotated', subject: 'agent_id' },
  linkAgent: { event: 'agent.linked' },
  updateMyAgent: { ...PAYOUT, optional: true },
  updateAgent: { ...PAYOUT, subject: 'agent_id', optional: true },
  confirmPayoutChange: { ...PAYOUT, event: 'agent.payout_change_confirmed', subject: 'agent_id' },
  cancelPayoutChange: { event: 'agent.payout_change_cancelled', subject: 'agent_id' },
  turnSwitch: { event: 'switch.changed', subject: 'name', details: ['on', 'reason'] },
  createApproval: approval('approval.proposed'),
  recognizeTransfer: { event: 'approval.proposed', subject: 'unmatched_id', details: ['reason'] },
  approveApproval: approval('approval.approved'),
  rejectApproval: approval('approval.rejected'),
  resolveDispute: { event: 'operator.dispute_resolved', subject: 'order_id', details: ['outcome'] },
  resolveRegistration: { event: 'operator.contest_resolved', subject: 'purchase_id', details: ['outcome'] },
  refundTransfer: { event: 'operator.transfer_refunded', subject: 'unmatched_id', details: ['reason'] },
  writeOffTransfer: { event: 'operator.transfer_written_off', subject: 'transfer_id', details: ['reason'] },
  recordCreatorFee: {
    event: 'operator.creator_fee_recorded',
    subject: 'agent_id',
    details: ['amount_sol', 'source_tx'],
  },
  settleCreatorFee: {
    event: 'operator.creator_fee_settled',
    subject: 'creator_fee_id',
    details: ['settle_tx'],
  },
  retryAnyPayout: { event: 'operator.payout_retried', subject: 'payout_id', details: ['reason'] },
}

/** The event of a request that succeeded, or undefined for an ordinary one. */
export function doneEvent(call: Call, actor: Actor, input: Input): SecurityEvent | undefined {
  const rule = SECURITY_EVENTS[call.operation.id as OperationId]
  if (rule === undefined) return undefined
  const details = Object.fromEntries(
    (rule.details ?? []).flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]]])),
  )
  const isEmpty = Object.keys(details).length === 0
  if (rule.optional === true && isEmpty) return undefined
  const named = rule.subject === undefined ? undefined : input[rule.subject]
  return {
    ...commonFields(call, actor),
    event: rule.event,
    outcome: 'done',
    subject: typeof named === 'string' ? named : nameOf(actor),
    ...(!isEmpty && { details }),
  }
}

/**
 * The event of a rejected credential, or of a caller who may not use an operation of operators. A request without any
 * credential is ordinary: clients ask that way what they have to send.
 */
export function rejectedEvent(
  call: LoggedCall,
  actor: Actor | undefined,
  error: unknown,
): SecurityEvent | undefined {
  if (!(error instanceof ApiError)) return undefined
  const code = error.extra.code ?? error.kind
  const isCredential = error.kind === 'unauthenticated' && code !== 'credentials_missing'
  const isAccess = error.kind === 'forbidden' && isForOperators(call)
  if (!isCredential && !isAccess) return undefined
  return {
    ...commonFields(call, actor),
    event: isCredential ? 'credential.rejected' : 'access.rejected',
    outcome: 'rejected',
    subject: null,
    code,
  }
}

/** What an event says about a call, or about a request of a transport that makes several calls. */
export type LoggedCall = Pick<Call, 'credentials' | 'address' | 'client' | 'requestId'> & {
  readonly operation: Pick<Operation, 'id' | 'callers'>
}

interface SecurityLog {
  onSecurityEvent(event: SecurityEvent): void
}

/** Writes the event, if there is one. */
export function logSecurityEvent(app: SecurityLog, event: SecurityEvent | undefined): void {
  if (event !== undefined) app.onSecurityEvent(event)
}

const isForOperators = ({ operation: { callers } }: LoggedCall): boolean =>
  callers.every((kind) => kind === 'admin' || kind === 'admin_key')

const commonFields = (call: LoggedCall, actor: Actor | undefined) => ({
  operation: call.operation.id,
  caller: actor === undefined ? 'unidentified' : nameOf(actor),
  ...describe(call.credentials),
  client: call.client ?? call.address,
  request_id: call.requestId,
})

function describe({ bearer, bodyToken, cookieToken, wallet }: Credentials): {
  credential: CredentialName
  credential_id: string | null
} {
  const secret = bearer ?? bodyToken ?? cookieToken
  if (secret !== undefined) return { credential: nameOfSecret(secret), credential_id: digestOf(secret) }
  if (wallet === undefined) return { credential: 'none', credential_id: null }
  const { wallet: claimed } = wallet
  return {
    credential: 'wallet_signature',
    credential_id: typeof claimed === 'string' ? claimed.slice(0, 64) : null,
  }
}

function nameOfSecret(secret: string): CredentialName {
  if (secret.startsWith(API_KEY_PREFIX)) return 'api_key'
  return secret.startsWith(ADMIN_KEY_PREFIX) ? 'operator_key' : 'access_token'
}

const DIGEST_LENGTH = 12

/** 48 bits of a hash: enough to follow one credential through the log, useless to find it. */
const digestOf = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex').slice(0, DIGEST_LENGTH)
