import type { Node } from '../../nodes/node-pool.ts'
import { quantity, word } from '../parse-rpc.ts'
import { callAll, callEach } from '../rpc.ts'
import { addressKey } from '../settings.ts'
import { depositProblemAt, lossAllowed } from './deposit-problem.ts'
import { readCalled, simulatePayments } from './simulate.ts'
import { askAmount, askDecimals, askVault, callAt, redeem, type Vault, type VaultAt } from './vault-calls.ts'
import { withdrawableAt } from './withdrawable.ts'

/** Whether the vault takes deposits is tried with 1 USDC. */
const PROBE = 1_000_000n
/** A price is that of 10^6 whole shares. */
const PRICED_SHARES_DIGITS = 6n

/** Fixes the newest block of a node. */
export const openAt = async (vault: Vault, node: Node): Promise<VaultAt & { readonly height: bigint }> => {
  const [height] = await callAll(node, vault.chainId, [['eth_blockNumber']])
  return { ...vault, node, height: quantity(height), block: `0x${quantity(height).toString(16)}` }
}

export const valuesAt = async (at: VaultAt, shares: readonly bigint[]): Promise<readonly bigint[]> => {
  const calls = shares.map((one) => callAt(askAmount(at, 'previewRedeem', one), at.block))
  return (await callAll(at.node, at.chainId, calls)).map(word)
}

export interface VaultReading {
  readonly value: bigint
  readonly liquid: bigint
  readonly tvl: bigint
  readonly price: bigint
  readonly acceptsDeposits: boolean
  readonly isHonest: boolean
}

export const readVaultAt = async (at: VaultAt, shares: bigint): Promise<VaultReading> => {
  const [asset, decimals] = await callAll(at.node, at.chainId, [
    callAt(askVault(at, 'asset'), at.block),
    callAt(askDecimals(at), at.block),
  ])
  if (`0x${word(asset).toString(16).padStart(40, '0')}` !== addressKey(at.usdc))
    throw new Error(`the vault ${at.vault} does not hold USDC`)
  const unit = 10n ** (word(decimals) + PRICED_SHARES_DIGITS)
  const [worth, assets, redeemable, converted] = await callEach(at.node, at.chainId, [
    callAt(askAmount(at, 'previewRedeem', shares), at.block),
    callAt(askVault(at, 'totalAssets'), at.block),
    callAt(askAmount(at, 'previewRedeem', unit), at.block),
    callAt(askAmount(at, 'convertToAssets', unit), at.block),
  ])
  const value = numberOf(worth)
  const { amount: liquid, isUnderpaid } = await withdrawableAt(at, value)
  const problem = await depositProblemAt(at, PROBE)
  return {
    value,
    liquid,
    tvl: numberOf(assets),
    // The preview may revert, because there are not that many shares.
    price: readCalled(redeemable).kind === 'returned' ? numberOf(redeemable) : numberOf(converted),
    acceptsDeposits: problem === undefined,
    isHonest: !isUnderpaid && (await paysWhatItSays(at, shares, value, liquid)),
  }
}

const numberOf = (response: Parameters<typeof readCalled>[0]): bigint => {
  const called = readCalled(response)
  if (called.kind === 'reverted') throw new Error(`the vault reverts: ${called.reason}`)
  return word(called.data)
}

/** Redeems all shares, or as many as the vault can pay now, and compares what arrives with what the vault said. */
const paysWhatItSays = async (
  at: VaultAt,
  shares: bigint,
  value: bigint,
  liquid: bigint,
): Promise<boolean> => {
  if (shares === 0n || value === 0n) return true
  const [paid] = await simulatePayments(at, [{ call: redeem(at, shares) }])
  if (paid !== undefined) return paid >= value - lossAllowed(value)
  const part = (shares * liquid) / value
  if (part === 0n) return true
  const [said = 0n] = await valuesAt(at, [part])
  const [paidPart] = await simulatePayments(at, [{ call: redeem(at, part) }])
  return paidPart === undefined || paidPart >= said - lossAllowed(said)
}
