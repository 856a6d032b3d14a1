import { findKeyOrigin, openWallet } from '@market/core/custody'
import {
  type Action,
  advance,
  isStill,
  type Known,
  type Progress,
  type Refusal,
  SEARCHED_MS,
  type Signed,
  whenOver,
} from '@market/core/outgoing'
import type { WalletIntent, WalletSigner } from '@market/core/ports/agent-wallets'
import { findStopping, isStopped, rejectWhileStopped, WALLET_SWITCH } from '@market/core/switches'
import { type Tx, transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { earlier, later, MINUTE, SECOND } from '@market/kernel/clock'
import { checkFunds, findObjection, findRejection } from './check-operation.ts'
import { findEnd, type OperationEnd } from './end-operation.ts'
import {
  exportInfo,
  GIVE_UP_MS,
  type WalletTransaction,
  type WalletTransactionFailure,
  type WalletTransactionId,
} from './operation.ts'
import { report } from './report-operation.ts'
import { hasEnded } from './states.ts'
import {
  deleteExportsBefore,
  findDue,
  findWalletTransaction,
  lockWalletTransaction,
  saveDue,
  saveWalletTransaction,
} from './store.ts'
import type { SignerContext } from './wallet-context.ts'

const AT_ONCE = 50
const SOON_MS = SECOND
const WAITING_MS = 30 * SECOND
/** After a restore of the database, until what it may have lost has expired on Solana. */
const COMPARING_MS = 5 * SECOND
/** Each attempt has expired for good before the next one is signed. */
const MAX_ATTEMPTS = 5
/** How long the owner has to read an exported key. */
const EXPORT_STAYS_MS = 15 * MINUTE

/** Advances every due operation by one step. Several workers can call it at once. */
export async function advanceWalletTransactions(
  ctx: SignerContext,
  log: { error(fields: object, message: string): void },
): Promise<void> {
  await deleteExportsBefore(ctx.db, earlier(ctx.clock.now(), EXPORT_STAYS_MS))
  const due = await findDue(ctx.db, ctx.clock.now(), AT_ONCE)
  await Promise.all(
    due.map(async (id) => {
      try {
        const pauseMs = await advanceWalletTransaction(ctx, id)
        if (pauseMs !== undefined) await saveDue(ctx.db, id, later(ctx.clock.now(), pauseMs))
      } catch (error) {
        await saveDue(ctx.db, id, later(ctx.clock.now(), WAITING_MS))
        log.error({ err: error, operation_id: id }, 'a wallet operation was not advanced')
      }
    }),
  )
}

/**
 * Does the next step. Returns when to look again, or undefined when it has ended.
 */
export async function advanceWalletTransaction(
  ctx: SignerContext,
  id: WalletTransactionId,
): Promise<number | undefined> {
  const operation = await findWalletTransaction(ctx.db, id)
  if (hasEnded(operation)) return undefined
  if (operation.task.kind === 'export') return exportSecret(ctx, operation)
  const signer = ctx.walletSigner
  if (signer === undefined) return WAITING_MS
  const key = await findKeyOrigin(ctx.db, operation.wallet)
  const action = { id, kind: 'wallet', account: operation.wallet, key } as const
  const end = await findEnd(ctx.db, id)
  const progress = await advanceOrUndecided(end, () =>
    advance<WalletTransactionFailure>(ctx, signer, action, {
      // Nothing is signed after two operators decided.
      isStopped: async () => end !== undefined || isFrozen(ctx),
      sign: ({ n }) => sign(ctx, signer, operation, n),
      maxAttempts: MAX_ATTEMPTS,
    }),
  )
  // What the chain shows counts more than what operators read on it.
  if (end !== undefined && ['under_way', 'not_compared'].includes(progress.kind))
    return endAsDecided(ctx, signer, operation, action, end)
  switch (progress.kind) {
    case 'final':
      return finish(ctx, signer, operation, progress.reference)
    case 'failed':
      return fail(ctx, operation, 'rejected_on_chain', progress.known)
    case 'expired':
      return fail(ctx, operation, 'expired', progress.known)
    case 'refused':
      return fail(ctx, operation, progress.reason, progress.known)
    case 'stopped':
      // What expired is over. Kept open while wallets are stopped, it would block the wallet, and nodes forget old transactions.
      return progress.known.attempts === 0 && end === undefined
        ? WAITING_MS
        : fail(ctx, operation, end?.reference === null ? 'ended_by_operators' : 'expired', progress.known)
    case 'not_compared':
      return COMPARING_MS
    case 'under_way':
      return SOON_MS
  }
}

/** Nodes without the history of a wallet fail for ever. Then only the operators know more. */
async function advanceOrUndecided<R>(
  end: OperationEnd | undefined,
  step: () => Promise<Progress<R>>,
): Promise<Progress<R>> {
  try {
    return await step()
  } catch (error) {
    if (end !== undefined && error instanceof ApiError && error.kind === 'unavailable')
      return { kind: 'not_compared' }
    throw error
  }
}

/** Ends it as two operators decided, once nothing that was signed for it can be executed any more. */
async function endAsDecided(
  ctx: SignerContext,
  signer: WalletSigner,
  operation: WalletTransaction,
  action: Action,
  { reference }: OperationEnd,
): Promise<number | undefined> {
  const known = await whenOver(ctx, signer, action)
  // fix: end-when-over
  if (known === undefined) return COMPARING_MS
  return reference === null
    ? fail(ctx, operation, 'ended_by_operators', known)
    : finish(ctx, signer, operation, reference)
}

const isOlderThan = ({ clock }: SignerContext, { createdAt }: WalletTransaction, age: number): boolean =>
  clock.now().getTime() - createdAt.getTime() > age

/** The transaction that stores a signature checks it again. */
const isFrozen = ({ db }: SignerContext): Promise<boolean> =>
  transact(db, (tx) => isStopped(tx, [WALLET_SWITCH]))

/** Checks and signs. A stored signature shows that the owner's request was checked: it names everything, and stays. */
async function sign(
  ctx: SignerContext,
  signer: WalletSigner,
  operation: WalletTransaction,
  attempt: number,
): Promise<Signed<WalletTransactionFailure> | Refusal<WalletTransactionFailure>> {
  if (isOlderThan(ctx, operation, attempt === 1 ? GIVE_UP_MS : SEARCHED_MS)) return { refused: 'expired' }
  const objection = attempt === 1 ? await findObjection(ctx, operation) : undefined
  if (objection !== undefined) return { refused: objection }
  const checked = await checkFunds(signer, operation, attempt)
  if ('failure' in checked) return { refused: checked.failure }
  const { amount } = checked
  const intent = intentOf(operation, amount)
  const seed = await openSeed(ctx, operation)
  try {
    const transaction = await signer.sign(seed, { id: operation.id, attempt, intent })
    const mint = signer.mintOf(seed, intent.kind)
    return { transaction, authorize: (tx) => authorize(ctx, tx, operation, amount, mint) }
  } finally {
    seed.fill(0)
  }
}

async function openSeed(ctx: SignerContext, { id, agentId, wallet }: WalletTransaction): Promise<Buffer> {
  const { address, seed } = await openWallet(ctx, agentId)
  assert(address === wallet, `${id} names the wallet of its agent`)
  return seed
}

function intentOf({ task }: WalletTransaction, amount: bigint | undefined): WalletIntent {
  assert(task.kind !== 'export', 'an export is not a transaction')
  if (task.kind === 'launch' || task.kind === 'identity') return { kind: task.kind, token: task.token }
  assert(amount !== undefined, 'the amount of a transfer is known before it is signed')
  return { kind: 'send', asset: task.asset, to: task.to, amount }
}

/** Saves what was signed, if nothing forbids it meanwhile. */
async function authorize(
  ctx: SignerContext,
  tx: Tx,
  { id }: WalletTransaction,
  amount: bigint | undefined,
  mint: string | null,
): Promise<boolean | Refusal<WalletTransactionFailure>> {
  if ((await findStopping(tx, [WALLET_SWITCH])) !== undefined) return false
  const locked = await lockWalletTransaction(tx, id)
  if (hasEnded(locked)) return false
  const rejection = await findRejection(ctx, tx, locked, amount ?? 0n)
  if (rejection !== undefined) return { refused: rejection }
  const now = ctx.clock.now()
  const change = { mint, signedAt: now, ...(amount !== undefined && { amount }) }
  await saveWalletTransaction(tx, locked, 'sign', change, now)
  return true
}

async function finish(
  ctx: SignerContext,
  signer: WalletSigner,
  operation: WalletTransaction,
  reference: string,
): Promise<undefined> {
  const mint = operation.mint ?? (await mintOf(ctx, signer, operation))
  await transact(ctx.db, async (tx) => {
    const locked = await lockWalletTransaction(tx, operation.id)
    if (hasEnded(locked)) return
    const now = ctx.clock.now()
    // The database may have lost that it was signed.
    const change = { reference, mint, ...(locked.status === 'requested' && { signedAt: now }) }
    const done = await saveWalletTransaction(tx, locked, 'finish', change, now)
    await ctx.operationListener.onDone(ctx, tx, done)
    await report(ctx, tx, done)
  })
}

async function mintOf(
  ctx: SignerContext,
  signer: WalletSigner,
  operation: WalletTransaction,
): Promise<string | null> {
  const { kind } = operation.task
  if (kind !== 'launch' && kind !== 'identity') return null
  const seed = await openSeed(ctx, operation)
  try {
    return signer.mintOf(seed, kind)
  } finally {
    seed.fill(0)
  }
}

/** `known`: with what this was decided; undefined for an export, of which nothing is signed. */
async function fail(
  ctx: SignerContext,
  { id }: WalletTransaction,
  failure: WalletTransactionFailure,
  known?: Known,
): Promise<undefined> {
  await transact(ctx.db, async (tx) => {
    // Another worker may have signed meanwhile; its transaction can still take effect. It locks in this order too.
    if (known !== undefined && !(await isStill(tx, id, known))) return
    const locked = await lockWalletTransaction(tx, id)
    if (hasEnded(locked)) return
    await report(ctx, tx, await saveWalletTransaction(tx, locked, 'fail', { failure }, ctx.clock.now()))
  })
}

/** The secret is sealed to the key that the owner wallet signed for. No transaction is made. */
async function exportSecret(ctx: SignerContext, operation: WalletTransaction): Promise<number | undefined> {
  const { task } = operation
  assert(task.kind === 'export', 'this operation is an export')
  if (isOlderThan(ctx, operation, GIVE_UP_MS)) return fail(ctx, operation, 'expired')
  if (await isFrozen(ctx)) return WAITING_MS
  const objection = await findObjection(ctx, operation)
  if (objection !== undefined) return fail(ctx, operation, objection)
  const seed = await openSeed(ctx, operation)
  try {
    const sealedExport = await ctx.exporter.sealTo(task.publicKey, seed, exportInfo(operation))
    return await transact(ctx.db, async (tx) => {
      await rejectWhileStopped(tx, [WALLET_SWITCH])
      const locked = await lockWalletTransaction(tx, operation.id)
      if (hasEnded(locked)) return undefined
      await report(
        ctx,
        tx,
        await saveWalletTransaction(tx, locked, 'finish', { sealedExport }, ctx.clock.now()),
      )
      return undefined
    })
  } catch (error) {
    if (error instanceof ApiError && error.extra.code === WALLET_SWITCH) return WAITING_MS
    throw error
  } finally {
    seed.fill(0)
  }
}
