import {
  isToken,
  type WalletAsset,
  type WalletReader,
  type WalletSigner,
} from '@market/core/ports/agent-wallets'
import { SIGNATURE_MAX_AGE_MS, SIGNATURE_MAX_SKEW_MS } from '@market/core/ports/signatures'
import type { Tx } from '@market/database/transact'
import { findAgentById, isSignedByOwner } from '@market/identity/agents'
import { DAY, earlier } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { findWithdrawAddresses } from './addresses/store.ts'
import { addressesAt } from './addresses/withdraw-address.ts'
import { amountToSend } from './funds.ts'
import {
  GIVE_UP_MS,
  signedPurpose,
  type Transfer,
  tokenUri,
  type WalletTransaction,
  type WalletTransactionFailure,
} from './operation.ts'
import { readHeld } from './read-held.ts'
import { sumSigned } from './store.ts'
import type { SignerContext } from './wallet-context.ts'

type CheckContext = Pick<SignerContext, 'db' | 'signatures' | 'clock' | 'baseUrl'>

/** Why the operation may not be signed, whatever the wallet holds. May query nodes, so no transaction is open. */
export async function findObjection(
  ctx: CheckContext,
  operation: WalletTransaction,
): Promise<WalletTransactionFailure | undefined> {
  const { agentId, task } = operation
  switch (task.kind) {
    case 'send':
    case 'export':
      return (await isOwnersRequest(ctx, operation)) ? undefined : 'owner_not_verified'
    case 'withdraw':
      return (await isPayable(ctx, agentId, task.to)) ? undefined : 'not_withdraw_address'
    default:
      return task.token.uri === tokenUri(ctx.baseUrl, agentId, task.kind) ? undefined : 'bad_metadata'
  }
}

/**
 * Whether the owner wallet signed this send or export. The api verified it too; this is the check of the process that has
 * the keys. The owner of an agent never changes, so the rows of the api cannot name another one.
 */
async function isOwnersRequest(
  ctx: CheckContext,
  { agentId, task, ownerSignature }: WalletTransaction,
): Promise<boolean> {
  const agent = await findAgentById(ctx.db, agentId)
  if (ownerSignature === null || ownerSignature.wallet !== agent.ownerWallet) return false
  const ageMs = ctx.clock.wallTime().getTime() - ownerSignature.signedAtMs
  if (ageMs > SIGNED_MAX_MS || ageMs < -SIGNATURE_MAX_SKEW_MS) return false
  return isSignedByOwner(ctx, agent, ownerSignature, signedPurpose(agentId, task))
}

/**
 * Whether the owner wallet set the address that is in effect, and this is it. An agent that only a user owns has no such
 * wallet: then the notification and the 24 hours of the worker are what protects it.
 */
async function isPayable(ctx: CheckContext, agentId: AgentId, to: string): Promise<boolean> {
  const { effective } = addressesAt(await findWithdrawAddresses(ctx.db, agentId), ctx.clock.now())
  if (effective === null || effective.address !== to) return false
  const agent = await findAgentById(ctx.db, agentId)
  if (agent.ownerWallet === null) return true
  const { ownerSignature: owner, storedAt } = effective
  if (owner === null || Math.abs(storedAt.getTime() - owner.signedAtMs) > SIGNED_MAX_MS) return false
  return isSignedByOwner(ctx, agent, owner, `wallets.withdraw-address:${agentId}:${to}`)
}

/** The api accepts a signature of five minutes. An operation that waits for a node is given up after an hour. */
const SIGNED_MAX_MS = SIGNATURE_MAX_AGE_MS + GIVE_UP_MS

/** Why the operation may not be signed, or the exact amount of a transfer. Reads the chain, so no transaction is open. */
export async function checkFunds(
  signer: WalletSigner,
  { task, wallet }: WalletTransaction,
  attempt: number,
): Promise<{ readonly failure: WalletTransactionFailure } | { readonly amount?: bigint }> {
  if (task.kind === 'export') return {}
  const token = 'token' in task ? task.token : undefined
  const isBad = 'asset' in task && !(await isSendable(signer, task.asset))
  if (isBad) return { failure: 'bad_asset' }
  const [held, costs] = await Promise.all([readHeld(signer, wallet, task), signer.costs(token)])
  if (task.kind === 'launch' || task.kind === 'identity')
    return held.lamports < costs[task.kind] + costs.rentExempt ? { failure: 'underfunded' } : {}
  const sent = amountToSend(task, held, {
    cost: await signer.sendCost(task.asset, task.to, attempt),
    rentExempt: costs.rentExempt,
  })
  if ('missing' in sent) return { failure: 'underfunded' }
  const rejection =
    task.to === wallet || (await signer.rejectionReason(task.asset, task.to, sent.amount)) !== undefined
  return rejection ? { failure: 'bad_destination' } : sent
}

/** Whether the mint has the decimals that the row names: an amount would mean something else with other ones. */
async function isSendable(reader: WalletReader, asset: WalletAsset): Promise<boolean> {
  if (!isToken(asset)) return true
  const found = await reader.tokenOf(asset.mint)
  // fix: decimals-of-mint
  return 'decimals' in found && found.decimals === asset.decimals
}

/** Why the policy forbids the operation, checked in the transaction that stores the signature. */
export async function findRejection(
  ctx: Pick<SignerContext, 'clock' | 'walletCaps'>,
  tx: Tx,
  { id, agentId, task }: WalletTransaction,
  amount: bigint,
): Promise<WalletTransactionFailure | undefined> {
  if (task.kind !== 'send' && task.kind !== 'withdraw') return undefined
  if (task.kind === 'withdraw' && !(await isWithdrawAddress(ctx, tx, { agentId, task })))
    return 'not_withdraw_address'
  // A token has no price here, so no cap: it goes only where the owner signed for it.
  if (isToken(task.asset)) return undefined
  const sent = await sumSigned(tx, { id, agentId }, task.asset, earlier(ctx.clock.now(), DAY))
  return sent + amount > ctx.walletCaps[task.asset] ? 'cap_exceeded' : undefined
}

const isWithdrawAddress = async (
  ctx: Pick<SignerContext, 'clock'>,
  tx: Tx,
  { agentId, task }: Pick<WalletTransaction<Transfer>, 'agentId' | 'task'>,
): Promise<boolean> => {
  const { effective } = addressesAt(await findWithdrawAddresses(tx, agentId), ctx.clock.now())
  return effective?.address === task.to
}
