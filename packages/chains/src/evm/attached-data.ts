import { erc20Abi, getAbiItem, type Hex, toFunctionSelector } from 'viem'
import { MAX_ATTACHED_BYTES } from '../transfer-data.ts'

const TRANSFER_SELECTOR = toFunctionSelector(getAbiItem({ abi: erc20Abi, name: 'transfer' }))
/** A selector and two words. */
const TRANSFER_BYTES = 4 + 2 * 32

/** The data after the arguments of a transfer, in hex. Null when there is none or it is too long. */
export const attachedDataOf = (input: Hex): string | null => {
  if (!input.startsWith(TRANSFER_SELECTOR)) return null
  const attached = input.slice(2 + 2 * TRANSFER_BYTES)
  return attached === '' || attached.length > 2 * MAX_ATTACHED_BYTES ? null : attached
}
