import type { PayoutRequest, SignedTransfer } from '@market/core/ports/payout-sender'
import type { EvmTreasurySigner } from '@market/core/ports/signer'
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
import { LONGEST_ATTACHED } from '../attached.ts'
import { asPayoutId } from '../payout-id.ts'
import type { Fees } from './fees.ts'
import { type EvmSettings, parseAddress } from './settings.ts'
import { signCall } from './sign-call.ts'

/** A transfer of USDC to a fresh address takes about 60 000. One with too little would block its nonce for ever. */
export const TRANSFER_GAS = 100_000n

const LONGEST_ID = 64

/** The token ignores what follows its arguments, so the payout's id rides along and two equal payouts differ. */
export const transferCall = ({ to, amount, payoutId }: PayoutRequest): Hex => {
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

/** What follows the arguments of a plain transfer, in hex; null when nothing does, or more than anybody would write. */
export const attachedTo = (input: Hex): string | null => {
  if (!input.startsWith(TRANSFER_SELECTOR)) return null
  const attached = input.slice(2 + 2 * TRANSFER_BYTES)
  return attached === '' || attached.length > 2 * LONGEST_ATTACHED ? null : attached
}

export const signTransfer = async (
  { chainId, usdc }: EvmSettings,
  signer: EvmTreasurySigner,
  order: PayoutRequest,
  nonce: bigint,
  fees: Fees,
): Promise<SignedTransfer> => {
  const call = { chainId, to: usdc, data: transferCall(order), gas: TRANSFER_GAS, nonce, fees }
  const { reference, bytes } = await signCall(signer, call)
  return { reference, bytes, nonce, lastValidHeight: null, ...fees }
}
