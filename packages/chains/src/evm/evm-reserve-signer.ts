import type { ReserveSigner } from '@market/core/ports/reserve-anchor'
import type { EvmKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import { hashMessage, isAddressEqual, numberToHex, recoverAddress, serializeSignature } from 'viem'
import { parseAddress } from './settings.ts'

/** No other message of the marketplace begins like this. */
const ANCHOR = /^market\.reserves\.v1 \d{4}-\d{2}-\d{2} [0-9a-f]{64}$/

/** Signs texts of anchors. The prefix of EIP-191 makes a signature unusable as one of a transaction or of typed data. */
export const evmReserveSigner = (network: Network, signer: EvmKeySigner): ReserveSigner => {
  const treasury = parseAddress(signer.address)
  assert(treasury !== undefined, 'the signer has an EVM address')
  return {
    network,
    treasury,
    async sign(text) {
      assert(ANCHOR.test(text), 'the treasury signs only texts of anchors')
      const { r, s, yParity } = await signer.signHash(hashMessage(text, 'bytes'))
      const signature = { r: numberToHex(r, { size: 32 }), s: numberToHex(s, { size: 32 }), yParity }
      const recovered = await recoverAddress({ hash: hashMessage(text), signature })
      assert(isAddressEqual(recovered, treasury), 'the signature is from the treasury’s key')
      return { network, treasury, signature: serializeSignature(signature) }
    },
  }
}
