import { smaller } from '../../bigints.ts'
import type { Node } from '../../nodes/node-pool.ts'
import { quantity, word } from '../parse-rpc.ts'
import { callAll, callEach } from '../rpc.ts'
import { addressKey } from '../settings.ts'
import { depositProblemAt, lossAllowed } from './deposit-problem.ts'
import { redeemableAt } from './redeemable.ts'
import { readCalled } from './simulate.ts'
import {
  askAmount,
  askBalance,
  askDecimals,
  askVault,
  callAt,
  type Vault,
  type VaultAt,
} from './vault-calls.ts'

/** Whether the vault takes deposits is tried with 1 USDC. */
const PROBE = 1_000_000n
/** A price is that of 10^6 whole shares. */
const PRICED_SHARES_DIGITS = 6n

/** Fixes the newest block of a node. */
export const openAt = async (vault: Vault, node: Node): Promise<VaultAt & { readonly height: bigint }> => {
  const [height] = await callAll(node, vault.chainId, [['eth_blockNumber']])
  return { ...vault, node, height: quantity(height), block: `0x${quantity(height).toString(16)}` }
}

export interface VaultReading {
  readonly held: bigint
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
  const [balance, assets, redeemable, converted] = await callEach(at.node, at.chainId, [
    callAt(askBalance(at.vault, at.wallet), at.block),
    callAt(askVault(at, 'totalAssets'), at.block),
    callAt(askAmount(at, 'previewRedeem', unit), at.block),
    callAt(askAmount(at, 'convertToAssets', unit), at.block),
  ])
  const held = numberOf(balance)
  const { value, liquid, isHonest } = await paymentFor(at, smaller(shares, held))
  const problem = await depositProblemAt(at, PROBE)
  return {
    ...{ held, value, liquid, isHonest },
    tvl: numberOf(assets),
    // The preview may revert, because there are not that many shares.
    price: readCalled(redeemable).kind === 'returned' ? numberOf(redeemable) : numberOf(converted),
    acceptsDeposits: problem === undefined,
  }
}

const numberOf = (response: Parameters<typeof readCalled>[0]): bigint => {
  const called = readCalled(response)
  if (called.kind === 'reverted') throw new Error(`the vault reverts: ${called.reason}`)
  return word(called.data)
}

/**
 * What the vault would pay for shares that the wallet has: it redeems all of them, or as many as it can pay now. The rest is worth what
 * it says, in the same proportion.
 */
const paymentFor = async (
  at: VaultAt,
  shares: bigint,
): Promise<Pick<VaultReading, 'value' | 'liquid' | 'isHonest'>> => {
  if (shares === 0n) return { value: 0n, liquid: 0n, isHonest: true }
  const part = await redeemableAt(at, shares)
  const asked = [shares, part.shares].map((amount) =>
    callAt(askAmount(at, 'previewRedeem', amount), at.block),
  )
  const [said = 0n, saidPart = 0n] = (await callEach(at.node, at.chainId, asked)).map(numberOf)
  const isHonest = part.assets >= saidPart - lossAllowed(saidPart)
  // The lower of what it says and what it pays.
  const isLower = saidPart > 0n && part.assets < saidPart
  const value = isLower ? (said * part.assets) / saidPart : said
  return { value, liquid: smaller(part.assets, value), isHonest }
}
