import { type Usdc, usdc, ZERO } from '@market/kernel/money'
import type { SolanaRpc } from './nodes.ts'
import { fetchTransaction, readUsdcChange, type TreasuryAccount, type UsdcChange } from './read-transfer.ts'
import { readTokenAccount } from './token-account.ts'

/** More transactions of one account than a slot has. */
const LISTED = 50

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

/** What an account has after a final slot. */
export const heldAt = async (
  rpc: SolanaRpc,
  account: TreasuryAccount,
  to: bigint,
): Promise<Usdc | undefined> => {
  const options = { commitment: 'finalized', limit: LISTED } as const
  const listed = await rpc.getSignaturesForAddress(account.account, options).send()
  if (listed.length === 0) {
    const token = await readTokenAccount(rpc, account.account, 'finalized')
    return token?.mint === account.mint ? usdc(token.amount) : ZERO
  }
  const upTo = listed.filter(({ slot }) => slot <= to)
  const last = upTo.filter(({ slot }) => slot === upTo[0]?.slot)
  const transactions = await Promise.all(last.map(({ signature }) => fetchTransaction(rpc, signature)))
  return heldAfter(transactions.flatMap((one) => (one === null ? [] : (readUsdcChange(one, account) ?? []))))
}
