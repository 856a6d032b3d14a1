import { openWallet } from '@market/core/custody'
import type { SignedOperation, WalletIntent, WalletSigner } from '@market/core/ports/agent-wallets'
import type { PayoutOutcome } from '@market/core/ports/payout-sender'
import { isStopped, recordEpoch, rejectWhileStopped, WALLET_SWITCH } from '@market/core/switches'
import { currentEpoch } from '@market/database/epoch'
import { type Db, type Tx, transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { earlier, later, MINUTE, SECOND } from '@market/kernel/clock'
import { checkFunds, findObjection, findRejection } from './check-operation.ts'
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
  findSignatures,
  findWalletTransaction,
  insertSignature,
  lockWalletTransaction,
  saveDue,
  saveWalletTransaction,
} from './store.ts'
import type { SignerContext } from './wallet-context.ts'

const AT_ONCE = 50
const SOON_MS = SECOND
const WAITING_MS = 30 * SECOND
/** Each attempt has expired for good before the next one is signed. */
const MAX_ATTEMPTS = 5
/** How long the owner has to read an exported key. */
const EXPORT_STAYS_MS = 15 * MINUTE

/** Advances every due operation by one step. Several workers can call it at once. */
export async function advanceWalletTransactions(
  ctx: SignerContext,
  log: { error(fields: object, message: string): void },
): Promise<void> {
  // fix: wallet-epoch-recorded
  if (ctx.walletSigner !== undefined) await recordEpoch(ctx, WALLET_SWITCH)
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
 * Does the next step: check, sign and store, send, or observe. Returns when to look again, or undefined when it has ended or
 * waits for an operator.
 */
export async function advanceWalletTransaction(
  ctx: SignerContext,
  id: WalletTransactionId,
): Promise<number | undefined> {
  const operation = await findWalletTransaction(ctx.db, id)
  if (hasEnded(operation)) return undefined
  const signed = await findSignatures(ctx.db, id)
  const isUnknown = operation.task.kind !== 'export' && (await isOfEarlierEpoch(ctx.db, operation))
  if (signed.length === 0 && isUnknown) return endUnknown(ctx, operation, 0)
  if (signed.length === 0 && isTooOld(ctx, operation)) return fail(ctx, operation, 0, 'expired')
  if (operation.task.kind === 'export') return exportSecret(ctx, operation)
  const signer = ctx.walletSigner
  if (signer === undefined) return WAITING_MS
  return signed.length === 0 ? sign(ctx, signer, operation, 0) : follow(ctx, signer, operation, signed)
}

/** Then its signature may have been stored, sent and lost with the database, so it is never signed again. */
// fix: wallet-epoch
const isOfEarlierEpoch = async (
  db: Db | Tx,
  { databaseEpoch }: Pick<WalletTransaction, 'databaseEpoch'>,
): Promise<boolean> => databaseEpoch !== (await currentEpoch(db))

/** Held until an operator turns the switch off, and then ended: the owner must look at what the wallet sent. */
async function endUnknown(
  ctx: SignerContext,
  operation: WalletTransaction,
  signatures: number,
): Promise<undefined> {
  if (!(await isFrozen(ctx))) return fail(ctx, operation, signatures, 'outcome_unknown')
  await saveDue(ctx.db, operation.id, later(ctx.clock.now(), WAITING_MS))
}

const isTooOld = ({ clock }: SignerContext, { createdAt }: WalletTransaction): boolean =>
  clock.now().getTime() - createdAt.getTime() > GIVE_UP_MS

async function follow(
  ctx: SignerContext,
  signer: WalletSigner,
  operation: WalletTransaction,
  signed: readonly SignedOperation[],
): Promise<number | undefined> {
  const outcome: PayoutOutcome = await signer.observe(signed)
  switch (outcome.kind) {
    case 'final':
      return finish(ctx, operation, signed, outcome.reference)
    case 'failed':
      return fail(ctx, operation, signed.length, 'rejected_on_chain')
    case 'expired':
      if (signed.length >= MAX_ATTEMPTS) return fail(ctx, operation, signed.length, 'expired')
      return sign(ctx, signer, operation, signed.length)
    case 'unknown':
      if (await isFrozen(ctx)) return WAITING_MS
      await send(signer, signed.at(-1))
      return SOON_MS
    case 'seen':
      return SOON_MS
  }
}

/**
 * Signs, stores the bytes, and only then sends them. If two workers sign at once, one stores its bytes first and the
 * other's are never sent. `before`: how many signatures of the operation have expired.
 */
async function sign(
  ctx: SignerContext,
  signer: WalletSigner,
  operation: WalletTransaction,
  before: number,
): Promise<number | undefined> {
  if (await isOfEarlierEpoch(ctx.db, operation)) return endUnknown(ctx, operation, before)
  // What expired is over. Kept open while wallets are stopped, it would block the wallet, and nodes forget old transactions.
  if (await isFrozen(ctx)) return before === 0 ? WAITING_MS : fail(ctx, operation, before, 'expired')
  // A stored signature shows that this was checked. The owner signed for everything, and the amount is known since.
  const objection = before === 0 ? await findObjection(ctx, operation) : undefined
  if (objection !== undefined) return fail(ctx, operation, before, objection)
  const attempt = before + 1
  const checked = await checkFunds(signer, operation, attempt)
  if ('failure' in checked) return fail(ctx, operation, before, checked.failure)
  const seed = await openSeed(ctx, operation)
  try {
    const intent = intentOf(operation, checked.amount)
    const signed = await signer.sign(seed, { id: operation.id, attempt, intent })
    const stored = await store(ctx, operation, attempt, signed, checked.amount)
    if (stored === 'stored') await send(signer, signed)
    return stored === 'frozen' ? WAITING_MS : SOON_MS
  } finally {
    seed.fill(0)
  }
}

/** The transaction that stores a signature checks it again. */
const isFrozen = ({ db }: SignerContext): Promise<boolean> =>
  transact(db, (tx) => isStopped(tx, [WALLET_SWITCH]))

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

async function store(
  ctx: SignerContext,
  operation: WalletTransaction,
  attempt: number,
  signed: SignedOperation,
  amount: bigint | undefined,
): Promise<'stored' | 'frozen' | 'lost'> {
  try {
    return await transact(ctx.db, async (tx) => {
      await rejectWhileStopped(tx, [WALLET_SWITCH])
      const locked = await lockWalletTransaction(tx, operation.id)
      if (hasEnded(locked) || (await isOfEarlierEpoch(tx, locked))) return 'lost'
      if ((await findSignatures(tx, locked.id)).length !== attempt - 1) return 'lost'
      const rejection = await findRejection(ctx, tx, locked, amount ?? 0n)
      if (rejection !== undefined) {
        await end(ctx, tx, locked, rejection)
        return 'lost'
      }
      if (!(await insertSignature(tx, locked.id, attempt, signed, ctx.clock.now()))) return 'lost'
      await saveWalletTransaction(tx, locked, 'sign', amount === undefined ? {} : { amount }, ctx.clock.now())
      return 'stored'
    })
  } catch (error) {
    if (error instanceof ApiError && error.extra.code === WALLET_SWITCH) return 'frozen'
    throw error
  }
}

/** Only the chain tells whether the transaction took effect, so an error of the nodes is not one of the operation. */
const send = (signer: WalletSigner, signed: SignedOperation | undefined): Promise<void> =>
  signed === undefined ? Promise.resolve() : signer.send(signed).catch(() => undefined)

async function finish(
  ctx: SignerContext,
  { id }: WalletTransaction,
  signed: readonly SignedOperation[],
  reference: string,
): Promise<undefined> {
  await transact(ctx.db, async (tx) => {
    const locked = await lockWalletTransaction(tx, id)
    if (hasEnded(locked)) return
    const mint = signed.find((one) => one.reference === reference)?.mint ?? null
    const done = await saveWalletTransaction(tx, locked, 'finish', { reference, mint }, ctx.clock.now())
    await ctx.operationListener.onDone(ctx, tx, done)
    await report(ctx, tx, done)
  })
}

async function fail(
  ctx: SignerContext,
  { id }: WalletTransaction,
  signatures: number,
  failure: WalletTransactionFailure,
): Promise<undefined> {
  await transact(ctx.db, async (tx) => {
    const locked = await lockWalletTransaction(tx, id)
    // Another worker may have signed meanwhile; its transaction can still take effect.
    if (hasEnded(locked) || (await findSignatures(tx, id)).length !== signatures) return
    await end(ctx, tx, locked, failure)
  })
}

async function end(
  ctx: SignerContext,
  tx: Tx,
  locked: WalletTransaction,
  failure: WalletTransactionFailure,
): Promise<void> {
  await report(ctx, tx, await saveWalletTransaction(tx, locked, 'fail', { failure }, ctx.clock.now()))
}

/** The secret is sealed to the key that the owner wallet signed for. No transaction is made. */
async function exportSecret(ctx: SignerContext, operation: WalletTransaction): Promise<number | undefined> {
  const { task } = operation
  assert(task.kind === 'export', 'this operation is an export')
  if (await isFrozen(ctx)) return WAITING_MS
  const objection = await findObjection(ctx, operation)
  if (objection !== undefined) return fail(ctx, operation, 0, objection)
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
