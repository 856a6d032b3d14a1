import { formatUsd, usdc as money } from '@market/kernel/money'
import { larger } from '../../bigints.ts'
import { word } from '../parse-rpc.ts'
import { callAll, callEach, type RpcResponse, resultOf } from '../rpc.ts'
import { readCalled, type Simulated, simulate } from './simulate.ts'
import {
  approve,
  askAllowance,
  askAmount,
  askBalance,
  askMax,
  callAt,
  deposit,
  transfer,
  type VaultAt,
} from './vault-calls.ts'

/** A deposit may lose this much by rounding, or a 10 000th of the amount. A vault with an entry or exit fee takes more. */
const ROUNDING = 2n
const MAX_LOSS_DIVISOR = 10_000n

export const lossAllowed = (amount: bigint): bigint => larger(ROUNDING, amount / MAX_LOSS_DIVISOR)

const rejects = (reason: string): string => `The vault rejects a deposit: ${reason.replace(/\.?$/, '.')}`

const numberIn = (response: RpcResponse | undefined): bigint | undefined => {
  const called = readCalled(response)
  return called.kind === 'returned' && called.data !== '0x' ? word(called.data) : undefined
}

/** Why the vault would not take an amount after this block, or would keep too much of it. */
export const depositProblemAt = async (at: VaultAt, amount: bigint): Promise<string | undefined> => {
  const responses = await callEach(at.node, at.chainId, [
    callAt(askMax(at, 'maxDeposit'), at.block),
    callAt(askAmount(at, 'previewDeposit', amount), at.block),
    callAt(askBalance(at.usdc, at.wallet), at.block),
    callAt(askBalance(at.usdc, at.treasury), at.block),
    callAt(askAllowance(at), at.block),
  ])
  const max = numberIn(responses[0]) ?? 0n
  // Vaults that do not implement the function answer 0, so 0 says nothing.
  if (max > 0n && max < amount)
    return `The vault takes at most ${formatUsd(money(max))} USDC at the moment. Deposit less, or try again later.`
  const preview = readCalled(responses[1])
  if (preview.kind === 'reverted') return rejects(preview.reason)
  const [inWallet = 0n, inTreasury = 0n, allowed = 0n] = responses.slice(2).map((one) => word(resultOf(one)))
  const simulated = await simulateDeposit(at, amount, { inWallet, inTreasury, allowed })
  if (simulated?.kind === 'reverted') return rejects(simulated.reason)
  return lossProblem(at, amount, simulated?.shares ?? word(preview.data))
}

/** What the shares of the deposit are worth at once. */
const lossProblem = async (at: VaultAt, amount: bigint, shares: bigint): Promise<string | undefined> => {
  if (shares <= 0n) return 'The vault gives no shares for this amount. Deposit more.'
  const [redeemed] = await callAll(at.node, at.chainId, [
    callAt(askAmount(at, 'previewRedeem', shares), at.block),
  ])
  const back = word(redeemed)
  if (amount - back <= lossAllowed(amount)) return undefined
  return `Of ${formatUsd(money(amount))} USDC the vault would pay only ${formatUsd(money(back))} USDC back: it charges a fee.`
}

interface Means {
  readonly inWallet: bigint
  readonly inTreasury: bigint
  readonly allowed: bigint
}

type SimulatedDeposit =
  | { readonly kind: 'reverted'; readonly reason: string }
  | { readonly kind: 'accepted'; readonly shares?: bigint }

/**
 * A paused vault often shows it only by a revert. What the wallet lacks comes from the treasury, as it would. Undefined when there is
 * not enough USDC to try.
 */
const simulateDeposit = async (
  at: VaultAt,
  amount: bigint,
  { inWallet, inTreasury, allowed }: Means,
): Promise<(SimulatedDeposit & { readonly shares?: bigint }) | undefined> => {
  const missing = larger(0n, amount - inWallet)
  if (missing > inTreasury) return undefined
  const held = askBalance(at.vault, at.wallet)
  const move = missing > 0n ? [transfer(at, at.treasury, at.wallet, missing)] : []
  const [calls] = await simulate(at, [[...move, approve(at, amount), held, deposit(at, amount), held]])
  if (calls !== undefined) return outcomeOf(calls)
  if (missing > 0n || allowed < amount) return undefined
  const [response] = await callEach(at.node, at.chainId, [callAt(deposit(at, amount), at.block)])
  const called = readCalled(response)
  return called.kind === 'reverted' ? called : { kind: 'accepted' }
}

/** The shares that the wallet really got. */
const outcomeOf = (calls: readonly Simulated[]): SimulatedDeposit => {
  const reverted = calls.find((call) => call.kind === 'reverted')
  if (reverted !== undefined) return reverted
  const [before, , after] = calls.slice(-3).map((call) => (call.kind === 'returned' ? call.data : '0x'))
  return { kind: 'accepted', shares: word(after) - word(before) }
}
