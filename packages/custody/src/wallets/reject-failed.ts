import { ApiError } from '@market/kernel/api-error'
import { failedError } from './failure.ts'
import { requireMintFunds } from './get-funding.ts'
import type { WalletTransaction } from './operation.ts'
import { requireFunds } from './transfers.ts'
import { requireReader, type WalletServices } from './wallet-context.ts'

/** Throws when the operation failed. For one that the wallet could not pay for, the error names what is missing now. */
export async function rejectFailed(
  ctx: WalletServices,
  operation: WalletTransaction,
): Promise<WalletTransaction> {
  const { id, failure } = operation
  if (failure === null) return operation
  const shortage = failure === 'underfunded' ? await findShortage(ctx, operation) : undefined
  throw shortage ?? failedError(id, failure)
}

/** Undefined when the wallet has enough by now, or no node answers. */
async function findShortage(
  ctx: WalletServices,
  operation: WalletTransaction,
): Promise<ApiError | undefined> {
  try {
    await requireCosts(ctx, operation)
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.kind === 'unavailable' ? undefined : error
  }
}

async function requireCosts(ctx: WalletServices, { task, wallet }: WalletTransaction): Promise<void> {
  if (task.kind === 'export') return
  if (task.kind === 'send' || task.kind === 'withdraw') return requireFunds(requireReader(ctx), wallet, task)
  await requireMintFunds(ctx, wallet, task.kind)
}
