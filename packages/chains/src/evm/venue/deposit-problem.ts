import { formatUsd, usdc as money } from '@market/kernel/money'
import { larger, smaller } from '../../bigints.ts'
import { word } from '../parse-rpc.ts'
import { callAll, callEach, type RpcResponse, resultOf } from '../rpc.ts'
import { readCalled, type Simulated, simulate } from './simulate.ts'
import {
  approve,
  askAllowance,
  askAmount,
  askBalance,
  askMax,
  type CallRequest,
  callAt,
  deposit,
  redeem,
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
  const shares = simulated?.shares ?? word(preview.data)
  if (shares <= 0n) return 'The vault gives no shares for this amount. Deposit more.'
  const back = smaller(await worthOf(at, shares), simulated?.back ?? amount)
  if (amount - back <= lossAllowed(amount)) return undefined
  return `The vault would keep too much: of ${formatUsd(money(amount))} USDC it would pay back only ${formatUsd(money(back))} USDC.`
}

/** What the vault says that shares are worth. */
const worthOf = async (at: VaultAt, shares: bigint): Promise<bigint> => {
  const [redeemed] = await callAll(at.node, at.chainId, [
    callAt(askAmount(at, 'previewRedeem', shares), at.block),
  ])
  return word(redeemed)
}

interface Means {
  readonly inWallet: bigint
  readonly inTreasury: bigint
  readonly allowed: bigint
}

interface SimulatedDeposit {
  readonly kind: 'accepted'
  /** The shares that the wallet really got, where the node can tell. */
  readonly shares?: bigint
  /** What the vault really paid for these shares at once, where it would. */
  readonly back?: bigint
}

type Rejected = Extract<Simulated, { kind: 'reverted' }>

/**
 * A paused vault often shows it only by a revert, and one that keeps money only by its payments. What the wallet lacks comes from the
 * treasury, as it would. Undefined when there is not enough USDC to try.
 */
const simulateDeposit = async (
  at: VaultAt,
  amount: bigint,
  { inWallet, inTreasury, allowed }: Means,
): Promise<SimulatedDeposit | Rejected | undefined> => {
  const missing = larger(0n, amount - inWallet)
  if (missing > inTreasury) return undefined
  const move = missing > 0n ? [transfer(at, at.treasury, at.wallet, missing)] : []
  const steps = [...move, approve(at, amount), deposit(at, amount)]
  const owned = askBalance(at.vault, at.wallet)
  const [calls] = await simulate(at, [[owned, ...steps, owned]])
  if (calls !== undefined) {
    const reverted = calls.find((call) => call.kind === 'reverted')
    if (reverted !== undefined) return reverted
    const shares = difference(calls.at(0), calls.at(-1))
    return { kind: 'accepted', shares, ...(await simulateWayBack(at, steps, shares)) }
  }
  if (missing > 0n || allowed < amount) return undefined
  const [response] = await callEach(at.node, at.chainId, [callAt(deposit(at, amount), at.block)])
  const called = readCalled(response)
  return called.kind === 'reverted' ? called : { kind: 'accepted' }
}

/** Redeems after the deposit. A vault that has nothing liquid, or locks shares, reverts: then only its own statement is known. */
const simulateWayBack = async (
  at: VaultAt,
  steps: readonly CallRequest[],
  shares: bigint,
): Promise<{ readonly back?: bigint }> => {
  const held = askBalance(at.usdc, at.treasury)
  const [calls] = await simulate(at, [[...steps, held, redeem(at, shares), held]])
  if (calls === undefined || calls.some(({ kind }) => kind === 'reverted')) return {}
  return { back: difference(calls.at(-3), calls.at(-1)) }
}

const difference = (before: Simulated | undefined, after: Simulated | undefined): bigint => {
  if (before?.kind !== 'returned' || after?.kind !== 'returned')
    throw new Error('the node could not read a balance')
  return word(after.data) - word(before.data)
}
