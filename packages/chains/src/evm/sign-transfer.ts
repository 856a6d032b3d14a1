import { assert } from '@market/kernel/assert'
import type { PayoutOrder, SignedTransfer } from '@market/market/ports/rail'
import type { EvmTreasurySigner } from '@market/market/ports/signer'
import {
  concat,
  encodeFunctionData,
  erc20Abi,
  getAbiItem,
  type Hex,
  hexToBytes,
  isAddressEqual,
  keccak256,
  numberToHex,
  recoverAddress,
  serializeTransaction,
  stringToHex,
  toFunctionSelector,
} from 'viem'
import { asPayoutId } from '../payout-id.ts'
import type { Fees } from './fees.ts'
import { type EvmSettings, parseAddress } from './settings.ts'

/** A transfer of USDC to a fresh address takes about 60 000. One with too little would block its nonce for ever. */
export const TRANSFER_GAS = 100_000n

const LONGEST_ID = 64

/** The token ignores what follows its arguments, so the payout's id rides along and two equal payouts differ. */
export const transferCall = ({ to, amount, payoutId }: PayoutOrder): Hex => {
  const payee = parseAddress(to)
  assert(payee !== undefined, `${to} is not an EVM address`)
  assert(amount > 0n, 'a payout is more than nothing')
  const id = stringToHex(payoutId)
  assert(payoutId !== '' && id.length <= 2 + 2 * LONGEST_ID, 'a payout id has 1 to 64 bytes')
  return concat([encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [payee, amount] }), id])
}

const TRANSFER_SELECTOR = toFunctionSelector(getAbiItem({ abi: erc20Abi, name: 'transfer' }))
/** A selector and two words. */
const TRANSFER_BYTES = 4 + 2 * 32

/** The payout that a call says it pays; null when it is not one of `transferCall`'s. */
export const payoutIdIn = (input: Hex): string | null => {
  if (!input.startsWith(TRANSFER_SELECTOR)) return null
  return asPayoutId(Buffer.from(input.slice(2), 'hex').toString('utf8', TRANSFER_BYTES))
}

export const signTransfer = async (
  { chainId, usdc }: EvmSettings,
  signer: EvmTreasurySigner,
  order: PayoutOrder,
  nonce: bigint,
  fees: Fees,
): Promise<SignedTransfer> => {
  const asset = parseAddress(usdc)
  const treasury = parseAddress(signer.address)
  assert(asset !== undefined && treasury !== undefined, 'the asset and the treasury have EVM addresses')
  const transaction = {
    type: 'eip1559',
    chainId,
    nonce: Number(nonce),
    to: asset,
    value: 0n,
    data: transferCall(order),
    gas: TRANSFER_GAS,
    ...fees,
  } as const
  const hash = keccak256(serializeTransaction(transaction))
  const { r, s, yParity } = await signer.signHash(hexToBytes(hash))
  const signature = { r: numberToHex(r, { size: 32 }), s: numberToHex(s, { size: 32 }), yParity }
  // With a wrong recovery bit the same bytes would be a transaction of some other account.
  const account = await recoverAddress({ hash, signature })
  assert(isAddressEqual(account, treasury), 'the signature is not the treasury key’s')
  const bytes = serializeTransaction(transaction, signature)
  return { reference: keccak256(bytes), bytes, nonce, lastValidHeight: null, ...fees }
}
