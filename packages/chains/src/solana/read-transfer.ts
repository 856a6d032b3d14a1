import { type Address, address, getBase58Encoder, isOffCurveAddress, type Signature } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { MAX_ATTACHED_BYTES } from '../transfer-data.ts'
import type { SolanaRpc } from './nodes.ts'
import { MEMO_PROGRAM } from './sign-payout.ts'

const base58 = getBase58Encoder()

/** Accepts version 1 transactions too. Balance changes have the same format in every version. */
export const fetchTransaction = (rpc: SolanaRpc, signature: Signature) =>
  rpc
    .getTransaction(signature, {
      commitment: 'confirmed',
      encoding: 'json',
      maxSupportedTransactionVersion: 1,
    })
    .send()

export type Transaction = NonNullable<Awaited<ReturnType<typeof fetchTransaction>>>

/** The USDC balance changes of a transaction. */
export interface UsdcChange {
  /** Change of the treasury's account. Negative for a payout. */
  readonly treasuryChange: bigint
  /** What the treasury's account has afterwards. Undefined when the transaction does not touch it. */
  readonly treasuryAfter: bigint | undefined
  readonly signers: readonly string[]
  /** Owners whose USDC decreased, with the amount, without the treasury. */
  readonly losses: ReadonlyMap<string, bigint>
  /** Owners of the accounts whose USDC increased, without the treasury. Null for an unknown owner. */
  readonly receivers: ReadonlySet<string | null>
  /** The other accounts whose USDC changed, by address. */
  readonly accounts: ReadonlyMap<string, { readonly owner: string | undefined; readonly change: bigint }>
}

export interface TreasuryAccount {
  readonly account: Address
  readonly owner: string
  readonly mint: string
}

/**
 * Uses the balance changes instead of the instructions, because a transfer may be in an inner call, in a batch or behind a
 * lookup table. Undefined when the node has no metadata of the transaction.
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

  let treasuryChange = 0n
  let treasuryAfter: bigint | undefined
  const byOwner = new Map<string, bigint>()
  const byAccount = new Map<string, { owner: string | undefined; change: bigint }>()
  const count = (balances: typeof meta.preTokenBalances, sign: 1n | -1n): void => {
    for (const balance of balances ?? []) {
      if (balance.mint !== treasury.mint || balance.programId !== TOKEN_PROGRAM_ADDRESS) continue
      const amount = sign * BigInt(balance.uiTokenAmount.amount)
      const key = keys[balance.accountIndex] ?? ''
      if (key === treasury.account) {
        treasuryChange += amount
        if (sign === 1n) treasuryAfter = amount
      } else {
        const before = byAccount.get(key)?.change ?? 0n
        byAccount.set(key, { owner: balance.owner, change: before + amount })
      }
      if (balance.owner !== undefined) byOwner.set(balance.owner, (byOwner.get(balance.owner) ?? 0n) + amount)
    }
  }
  count(meta.preTokenBalances, -1n)
  count(meta.postTokenBalances, 1n)

  const losses = [...byOwner].filter(([owner, change]) => change < 0n && owner !== treasury.owner)
  const increased = [...byAccount.values()].filter(({ change }) => change > 0n)
  return {
    treasuryChange,
    treasuryAfter,
    signers: accountKeys.slice(0, header.numRequiredSignatures),
    losses: new Map(losses.map(([owner, change]) => [owner, -change])),
    receivers: new Set(increased.map(({ owner }) => owner ?? null)),
    accounts: byAccount,
  }
}

/** The memos of top-level instructions. Memos of inner calls are written by other programs and are ignored. */
const memoBytesIn = ({ transaction }: Transaction): readonly Buffer[] => {
  const { accountKeys, instructions } = transaction.message
  return instructions
    .filter(({ programIdIndex }) => accountKeys[programIdIndex] === MEMO_PROGRAM)
    .map(({ data }) => Buffer.from(base58.encode(data)))
}

export const memosIn = (transaction: Transaction): readonly string[] =>
  memoBytesIn(transaction).map((memo) => memo.toString())

/** The only memo, in hex. Null when there is none, there are several, or it is too long. */
export const attachedDataOf = (transaction: Transaction): string | null => {
  const [memo, ...others] = memoBytesIn(transaction)
  if (memo === undefined || others.length > 0) return null
  return memo.length === 0 || memo.length > MAX_ATTACHED_BYTES ? null : memo.toString('hex')
}

/** Whether one of our wallets signed or paid. Such a transfer is never a buyer's payment. */
export const isOwnTransfer = (change: UsdcChange, own: ReadonlySet<string>): boolean =>
  change.signers.some((signer) => own.has(signer)) ||
  [...change.losses.keys()].some((owner) => own.has(owner))

export type Payer =
  | { readonly kind: 'one'; readonly key: string }
  /** No owner whose USDC decreased signed, as when a delegate or a program pays. */
  | { readonly kind: 'unknown' }
  /** The USDC of several owners decreased, so the payer is ambiguous. */
  | { readonly kind: 'several' }

/**
 * A multisig or another wallet of a program has no key, so it never signs: its program debits its account. It is the payer
 * only when the caller names it and it alone paid everything. Otherwise it may be a pool that swapped for the buyer.
 */
const programWallet = ({ losses, treasuryChange }: UsdcChange, payers: readonly string[] = []): Payer => {
  const [only, ...others] = [...losses]
  if (only === undefined || others.length > 0) return { kind: 'unknown' }
  const [key, loss] = only
  const isNamed = payers.includes(key) && isOffCurveAddress(address(key))
  return isNamed && loss >= treasuryChange ? { kind: 'one', key } : { kind: 'unknown' }
}

/**
 * The signer whose USDC decreased. Signing alone is not enough, because a relayer signs to pay the fee. Several payers are
 * accepted when all are in `payers`; the result is the one that paid most.
 */
export const payerOf = (change: UsdcChange, payers?: readonly string[]): Payer => {
  const payersByAmount = [...change.losses]
    .sort(([, a], [, b]) => (a > b ? -1 : a < b ? 1 : 0))
    .map(([owner]) => owner)
  const [payer] = payersByAmount.filter((owner) => change.signers.includes(owner))
  if (payer === undefined) return programWallet(change, payers)
  const isUnambiguous =
    payersByAmount.length === 1 || payersByAmount.every((owner) => payers?.includes(owner))
  return isUnambiguous ? { kind: 'one', key: payer } : { kind: 'several' }
}
