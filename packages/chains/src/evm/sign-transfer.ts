import type { PayoutRequest, SignedTransfer } from '@market/core/ports/payout-sender'
import type { EvmKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import {
  concat,
  encodeFunctionData,
  erc20Abi,
  getAbiItem,
  type Hex,
  stringToHex,
  toFunctionSelector,
} from 'viem'
import { MAX_ATTACHED_BYTES, parsePayoutId } from '../transfer-data.ts'
import type { Fees } from './fees.ts'
import { type EvmSettings, parseAddress } from './settings.ts'
import { signCall } from './sign-call.ts'

/** The least gas limit. A USDC transfer to a new address uses about 60 000; networks that bill data need more. */
export const TRANSFER_GAS = 100_000n

const MAX_PAYOUT_ID_BYTES = 64

/** Appends the payout id to the call. The token ignores it, and it makes equal payouts distinguishable. */
export const transferCall = ({ to, amount, payoutId }: PayoutRequest): Hex => {
  const payee = parseAddress(to)
  assert(payee !== undefined, `${to} is not an EVM address`)
  assert(amount > 0n, 'the payout amount is positive')
  const id = stringToHex(payoutId)
  assert(payoutId !== '' && id.length <= 2 + 2 * MAX_PAYOUT_ID_BYTES, 'a payout id has 1 to 64 bytes')
  return concat([encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [payee, amount] }), id])
}

const TRANSFER_SELECTOR = toFunctionSelector(getAbiItem({ abi: erc20Abi, name: 'transfer' }))
/** A selector and two words. */
const TRANSFER_BYTES = 4 + 2 * 32

/** The payout id in a call made by `transferCall`, or null. */
export const payoutIdIn = (input: Hex): string | null => {
  if (!input.startsWith(TRANSFER_SELECTOR)) return null
  return parsePayoutId(Buffer.from(input.slice(2), 'hex').toString('utf8', TRANSFER_BYTES))
}

/** The data after the arguments of a transfer, in hex. Null when there is none or it is too long. */
export const attachedDataOf = (input: Hex): string | null => {
  if (!input.startsWith(TRANSFER_SELECTOR)) return null
  const attached = input.slice(2 + 2 * TRANSFER_BYTES)
  return attached === '' || attached.length > 2 * MAX_ATTACHED_BYTES ? null : attached
}

export const signTransfer = async (
  { chainId, usdc }: EvmSettings,
  signer: EvmKeySigner,
  payout: PayoutRequest,
  nonce: bigint,
  { gas, ...fees }: Fees & { readonly gas: bigint },
): Promise<SignedTransfer> => {
  const call = { chainId, to: usdc, data: transferCall(payout), gas, nonce, fees }
  const { reference, bytes } = await signCall(signer, call)
  return { reference, bytes, nonce, lastValidHeight: null, ...fees }
}
