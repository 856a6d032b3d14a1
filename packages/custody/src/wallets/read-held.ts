import { isToken, type WalletReader } from '@market/core/ports/agent-wallets'
import type { Held } from './funds.ts'
import type { Task } from './operation.ts'

/** What the wallet has of SOL and of what is sent. Reads the chain, so no transaction is open. */
export async function readHeld(
  reader: Pick<WalletReader, 'balances' | 'tokenBalance'>,
  wallet: string,
  task: Task,
): Promise<Held> {
  const asset = 'asset' in task ? task.asset : 'SOL'
  const [{ lamports, usdcMicros }, tokens] = await Promise.all([
    reader.balances(wallet),
    isToken(asset) ? reader.tokenBalance(wallet, asset) : 0n,
  ])
  if (isToken(asset)) return { lamports, units: tokens }
  return { lamports, units: asset === 'USDC' ? usdcMicros : lamports }
}
