import { createHash } from 'node:crypto'
import { Refusal } from '@market/kernel/refusal'
import type { Carrier } from '@market/trade/x402'
import type { House } from '../house.ts'
import { readWallet } from '../prove-wallet.ts'
import type { HireCall } from './hire-call.ts'

interface Wanted {
  readonly carrier: Carrier | undefined
  readonly listingId: string
  readonly brief: string | undefined
}

/**
 * The wallet that signed for this very payment and purchase, by its key: who names a transaction may prove that they
 * made it. What a payer signed for us to send needs no second signature.
 */
export async function signerOf(
  house: Pick<House, 'signatures' | 'clock'>,
  { wallet: fields }: Pick<HireCall, 'wallet'>,
  { carrier, listingId, brief = '' }: Wanted,
): Promise<string | undefined> {
  if (fields === undefined || carrier?.kind !== 'transaction') return undefined
  const { wallet, signature, signedAtMs } = readWallet(house, fields)
  const words = createHash('sha256').update(brief.normalize('NFC').trim()).digest('hex')
  const purpose = `x402.pay:${carrier.network}:${carrier.reference}:${listingId}:${words}`
  const proof = { wallet, signature, signedAtMs, network: carrier.network }
  await house.signatures.verify(proof, purpose, house.clock.now())
  if ((wallet.chain === 'solana') !== (carrier.network === 'solana-mainnet'))
    throw new Refusal('invalid', `This wallet cannot have paid on ${carrier.network}`, {
      code: 'wrong_payer',
    })
  return wallet.key
}
