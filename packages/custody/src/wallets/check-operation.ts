import type { WalletSigner } from '@market/core/ports/agent-wallets'
import { isSameHolder, SIGNATURE_MAX_AGE_MS } from '@market/core/ports/signatures'
import type { Tx } from '@market/database/transact'
import { findAgentById } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { DAY, earlier } from '@market/kernel/clock'
import { findWithdrawAddresses } from './addresses/store.ts'
import { payableAddress } from './addresses/withdraw-address.ts'
import { amountToSend } from './funds.ts'
import { type OperationFailure, signedPurpose, type Transfer, type WalletOperation } from './operation.ts'
import { sumSigned } from './store.ts'
import type { SignerContext } from './wallet-context.ts'

/**
 * Whether the owner wallet signed this send or export. The api verified it too; this is the check of the process that has
 * the keys. The owner of an agent never changes, so the rows of the api cannot name another one.
 */
export async function isSignedByOwner(
  ctx: Pick<SignerContext, 'db' | 'signatures' | 'clock'>,
  { agentId, task, ownerSignature }: WalletOperation,
): Promise<boolean> {
  if (task.kind !== 'send' && task.kind !== 'export') return true
  const { ownerWallet, ownerProvenBy } = await findAgentById(ctx.db, agentId)
  if (ownerSignature === null || ownerSignature.wallet !== ownerWallet) return false
  const wallet = ctx.signatures.parseWallet(ownerSignature.wallet)
  if (wallet === undefined) return false
  const { signature, signedAtMs } = ownerSignature
  if (ctx.clock.wallTime().getTime() - signedAtMs > SIGNED_MAX_MS) return false
  const network = ownerProvenBy === null || ownerProvenBy === 'key' ? undefined : ownerProvenBy
  try {
    const provenBy = await ctx.signatures.verify(
      { wallet, signature, signedAtMs, ...(network !== undefined && { network }) },
      signedPurpose(agentId, task),
      new Date(signedAtMs),
    )
    // Without recorded evidence it is not known on which network a contract owns the agent.
    return ownerProvenBy === null
      ? provenBy === 'key'
      : isSameHolder({ key: wallet.key, provenBy }, ownerProvenBy)
  } catch (error) {
    if (error instanceof ApiError && error.kind !== 'unavailable') return false
    throw error
  }
}

/** The api accepts a signature of five minutes. An operation that waits for a node is given up after an hour. */
const SIGNED_MAX_MS = SIGNATURE_MAX_AGE_MS + DAY / 24

/** Why the operation may not be signed, or the exact amount of a transfer. Reads the chain, so no transaction is open. */
export async function checkFunds(
  signer: WalletSigner,
  { task, wallet }: WalletOperation,
  attempt: number,
): Promise<{ readonly failure: OperationFailure } | { readonly amount?: bigint }> {
  if (task.kind === 'export') return {}
  const token = 'token' in task ? task.token : undefined
  const [balances, costs] = await Promise.all([signer.balances(wallet), signer.costs(token)])
  if (task.kind === 'launch' || task.kind === 'identity')
    return balances.lamports < costs[task.kind] + costs.rentExempt ? { failure: 'underfunded' } : {}
  const sent = amountToSend(task, balances, {
    cost: await signer.sendCost(task.asset, task.to, attempt),
    rentExempt: costs.rentExempt,
  })
  if ('missing' in sent) return { failure: 'underfunded' }
  const rejection =
    task.to === wallet || (await signer.rejectionReason(task.asset, task.to, sent.amount)) !== undefined
  return rejection ? { failure: 'bad_destination' } : sent
}

/** Why the policy forbids the operation, checked in the transaction that stores the signature. */
export async function findRejection(
  ctx: Pick<SignerContext, 'clock' | 'walletCaps'>,
  tx: Tx,
  { agentId, task, status }: WalletOperation,
  amount: bigint,
): Promise<OperationFailure | undefined> {
  if (task.kind !== 'send' && task.kind !== 'withdraw') return undefined
  if (task.kind === 'withdraw' && !(await isWithdrawAddress(ctx, tx, { agentId, task })))
    return 'not_withdraw_address'
  const sent = await sumSigned(tx, agentId, task.asset, earlier(ctx.clock.now(), DAY))
  // A transfer that is signed again is counted already.
  const added = status === 'signed' ? 0n : amount
  return sent + added > ctx.walletCaps[task.asset] ? 'cap_exceeded' : undefined
}

const isWithdrawAddress = async (
  ctx: Pick<SignerContext, 'clock'>,
  tx: Tx,
  { agentId, task }: Pick<WalletOperation<Transfer>, 'agentId' | 'task'>,
): Promise<boolean> => payableAddress(await findWithdrawAddresses(tx, agentId), ctx.clock.now()) === task.to
