import { type Usdc, usdc } from '@market/kernel/money'
import type { SolanaRpc } from './nodes.ts'
import type { TreasuryAccount, UsdcChange } from './read-transfer.ts'
import { readFinalUsdc } from './token-account.ts'

/**
 * What an account has after the transactions of a slot, whose order nodes do not agree on: what none of the others found
 * there. Undefined when that is not certain.
 */
export const heldAfter = (changes: readonly UsdcChange[]): Usdc | undefined => {
  const found = changes.flatMap(({ treasuryAfter, treasuryChange }) =>
    treasuryAfter === undefined ? [] : { after: treasuryAfter, before: treasuryAfter - treasuryChange },
  )
  const before = found.map((one) => one.before)
  for (const { after } of found) {
    const at = before.indexOf(after)
    if (at < 0) return usdc(after)
    before.splice(at, 1)
  }
  // Nothing moved, or it came back.
  const [only, ...others] = new Set(found.map(({ after }) => after))
  return only === undefined || others.length > 0 ? undefined : usdc(only)
}

/**
 * What an account has after a final slot; undefined when something happened to it since. It is read of the account itself, so a
 * transfer that the list of a node still lacks is in it, and nothing explains it until the list has it too.
 */
export const heldAt = async (
  rpc: SolanaRpc,
  { account, mint }: TreasuryAccount,
  to: bigint,
): Promise<Usdc | undefined> => {
  const amount = await readFinalUsdc(rpc, account, mint, to)
  const [newest] = await rpc.getSignaturesForAddress(account, { commitment: 'finalized', limit: 1 }).send()
  return newest === undefined || newest.slot <= to ? amount : undefined
}
