import type { Operation } from '@market/contract/define'
import type { OperationId } from '@market/contract/operations'
import { type Actor, nameOf } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import type { Call } from './call.ts'
import { type CredentialFields, credentialFields, sentCredential } from './credential.ts'

/** One line of the security log. docs/operations/security-events.md lists the events; their names do not change. */
export interface SecurityEvent extends CredentialFields {
  readonly event: string
  readonly outcome: 'done' | 'rejected'
  readonly operation: string
  readonly caller: string
  readonly client: string
  readonly request_id: string
  readonly subject: string | null
  readonly code?: string
  readonly details?: Readonly<Record<string, unknown>>
}

type Input = Readonly<Record<string, unknown>>

interface Rule {
  readonly event: string
  /** The field of the input that names what changed. Default: the caller. */
  readonly subject?: string
  /** Fields of the input that are logged. None of them is a secret. */
  readonly details?: readonly string[]
  /** Only when the request has one of the fields in `details`. */
  readonly optional?: true
}

/** The query of a URL can contain a secret of its owner. */
const withoutQuery = (value: unknown): unknown => {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url === null ? value : `${url.origin}${url.pathname}`
}

const PAYOUT_FIELDS = ['payout_wallet', 'payout_address_base', 'payout_chain', 'address']
const PAYOUT = { event: 'agent.payout_address_changed', details: PAYOUT_FIELDS } as const
const ENDPOINT = { event: 'agent.endpoint_changed', details: ['endpoint_url'], optional: true } as const
const WALLET_FIELDS = ['chain', 'asset', 'amount', 'to', 'address']
const wallet = (event: string): Rule => ({
  event: `wallet.${event}`,
  subject: 'agent_id',
  details: WALLET_FIELDS,
})
const approval = (event: string): Rule => ({ event, subject: 'approval_id', details: ['kind', 'reason'] })

/** The event of each operation that changes credentials, payees, switches or money of others. */
export const SECURITY_EVENTS: Readonly<Partial<Record<OperationId, Rule | readonly Rule[]>>> = {
  signIn: { event: 'login.succeeded' },
  startSession: { event: 'login.succeeded' },
  endSession: { event: 'login.ended' },
  deleteProfile: { event: 'account.deleted' },
  recoverAgents: { event: 'agent.keys_recovered', subject: 'agent_name' },
  rotateKey: { event: 'agent.key_rotated', subject: 'agent_id' },
  linkAgent: { event: 'agent.linked' },
  // fix: endpoint-event
  updateMyAgent: [{ ...PAYOUT, optional: true }, ENDPOINT],
  updateAgent: [
    { ...PAYOUT, subject: 'agent_id', optional: true },
    { ...ENDPOINT, subject: 'agent_id' },
  ],
  confirmPayoutChange: { ...PAYOUT, event: 'agent.payout_change_confirmed', subject: 'agent_id' },
  cancelPayoutChange: { event: 'agent.payout_change_cancelled', subject: 'agent_id' },
  // fix: wallet-events
  sendFromWallet: wallet('send_requested'),
  exportKey: wallet('key_exported'),
  setWithdrawAddress: wallet('withdraw_address_set'),
  cancelWithdrawAddress: wallet('withdraw_address_cancelled'),
  withdraw: wallet('withdraw_requested'),
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

/** The events of a request that succeeded; none for an ordinary one. */
export function doneEvents(call: Call, actor: Actor, input: Input): SecurityEvent[] {
  const rules = [SECURITY_EVENTS[call.operation.id as OperationId] ?? []].flat()
  return rules.flatMap((rule) => {
    const given = (rule.details ?? []).filter((name) => input[name] !== undefined)
    if (rule.optional === true && given.length === 0) return []
    const details = Object.fromEntries(given.map((name) => [name, loggedValue(name, input[name])]))
    const named = rule.subject === undefined ? undefined : input[rule.subject]
    return {
      ...commonFields(call, actor),
      event: rule.event,
      outcome: 'done' as const,
      subject: typeof named === 'string' ? named : nameOf(actor),
      ...(given.length > 0 && { details }),
    }
  })
}

const loggedValue = (name: string, value: unknown): unknown =>
  name === 'endpoint_url' ? withoutQuery(value) : value

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
  const { code } = error
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
export type LoggedCall = Pick<Call, 'caller' | 'credentials' | 'address' | 'client' | 'requestId'> & {
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

/** The credential of the caller; of a rejected one, what was sent. */
const commonFields = (call: LoggedCall, actor: Actor | undefined = call.caller?.actor) => ({
  operation: call.operation.id,
  caller: actor === undefined ? 'unidentified' : nameOf(actor),
  ...credentialFields(actor?.credential ?? sentCredential(call.credentials)),
  client: call.client ?? call.address,
  request_id: call.requestId,
})
