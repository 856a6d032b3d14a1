import { type Address, getBase58Encoder, type Signature } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { LONGEST_ATTACHED } from '../attached.ts'
import type { SolanaRpc } from './nodes.ts'
import { MEMO_PROGRAM } from './sign-payout.ts'

const base58 = getBase58Encoder()

/** Version 1 is asked for too: a balance change reads the same in every version. */
export const fetchTransaction = (rpc: SolanaRpc, signature: Signature) =>
  rpc
    .getTransaction(signature, {
      commitment: 'confirmed',
      encoding: 'json',
      maxSupportedTransactionVersion: 1,
    })
    .send()

export type Transaction = NonNullable<Awaited<ReturnType<typeof fetchTransaction>>>

/** What a transaction did to the USDC of everybody in it. */
export interface UsdcChange {
  /** Of the treasury's own account; below zero for a payout. */
  readonly gained: bigint
  readonly signers: readonly string[]
  /** Who had less USDC afterwards and how much less, without the treasury. */
  readonly losses: ReadonlyMap<string, bigint>
  /** The owners of the accounts that had more USDC afterwards, without the treasury's own; null for one untold. */
  readonly gainers: ReadonlySet<string | null>
}

export interface TreasuryAccount {
  readonly account: Address
  readonly owner: string
  readonly mint: string
}

/**
 * The net change of balances, and not the instructions: a transfer may hide in an inner call, in a batch, or behind
 * a lookup table, and its effect is the same. Undefined when the node kept no record of the effect.
 */
export const readUsdcChange = (
  transaction: Transaction,
  treasury: TreasuryAccount,
): UsdcChange | undefined => {
  const { meta } = transaction
  if (meta === null) return undefined
  const { accountKeys, header } = transaction.transaction.message
  const loaded = meta.loadedAddresses
  const keys: readonly Address[] = [...accountKeys, ...(loaded?.writable ?? []), ...(loaded?.readonly ?? [])]

  let gained = 0n
  const byOwner = new Map<string, bigint>()
  const byAccount = new Map<number, { owner: string | undefined; change: bigint }>()
  const count = (balances: typeof meta.preTokenBalances, sign: 1n | -1n): void => {
    for (const balance of balances ?? []) {
      if (balance.mint !== treasury.mint || balance.programId !== TOKEN_PROGRAM_ADDRESS) continue
      const amount = sign * BigInt(balance.uiTokenAmount.amount)
      if (keys[balance.accountIndex] === treasury.account) gained += amount
      else {
        const before = byAccount.get(balance.accountIndex)?.change ?? 0n
        byAccount.set(balance.accountIndex, { owner: balance.owner, change: before + amount })
      }
      if (balance.owner !== undefined) byOwner.set(balance.owner, (byOwner.get(balance.owner) ?? 0n) + amount)
    }
  }
  count(meta.preTokenBalances, -1n)
  count(meta.postTokenBalances, 1n)

  const losses = [...byOwner].filter(([owner, change]) => change < 0n && owner !== treasury.owner)
  const winners = [...byAccount.values()].filter(({ change }) => change > 0n)
  return {
    gained,
    signers: accountKeys.slice(0, header.numRequiredSignatures),
    losses: new Map(losses.map(([owner, change]) => [owner, -change])),
    gainers: new Set(winners.map(({ owner }) => owner ?? null)),
  }
}

/** What the memo instructions of the transaction itself say; those of inner calls are somebody else's words. */
const memoBytesIn = ({ transaction }: Transaction): readonly Buffer[] => {
  const { accountKeys, instructions } = transaction.message
  return instructions
    .filter(({ programIdIndex }) => accountKeys[programIdIndex] === MEMO_PROGRAM)
    .map(({ data }) => Buffer.from(base58.encode(data)))
}

export const memosIn = (transaction: Transaction): readonly string[] =>
  memoBytesIn(transaction).map((memo) => memo.toString())

/** The one memo in hex; null when there is none, several, or more than anybody would write. */
export const attachedTo = (transaction: Transaction): string | null => {
  const [memo, ...more] = memoBytesIn(transaction)
  if (memo === undefined || more.length > 0) return null
  return memo.length === 0 || memo.length > LONGEST_ATTACHED ? null : memo.toString('hex')
}

/** Whether one of ours signed or paid: our own money coming home is nobody's payment. */
export const isOwn = (change: UsdcChange, own: ReadonlySet<string>): boolean =>
  change.signers.some((signer) => own.has(signer)) ||
  [...change.losses.keys()].some((loser) => own.has(loser))

export type Payer =
  | { readonly kind: 'one'; readonly key: string }
  /** Nobody who lost USDC signed, as when a delegate or a program pays. */
  | { readonly kind: 'untold' }
  /** Several lost USDC: the chain does not tell whose went to the treasury. */
  | { readonly kind: 'several' }

/**
 * The one who lost USDC and signed. Signing alone is not paying: a relayer signs for the fee of other people's payments.
 * Several losers count as one when all of them are wallets of the same caller; it is then the one that lost most.
 */
export const payerOf = (change: UsdcChange, payers?: readonly string[]): Payer => {
  const losers = [...change.losses]
    .sort(([, a], [, b]) => (a > b ? -1 : a < b ? 1 : 0))
    .map(([owner]) => owner)
  const [payer] = losers.filter((loser) => change.signers.includes(loser))
  if (payer === undefined) return { kind: 'untold' }
  const isOneCaller = losers.length === 1 || losers.every((loser) => payers?.includes(loser))
  return isOneCaller ? { kind: 'one', key: payer } : { kind: 'several' }
}
