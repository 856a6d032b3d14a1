import {
  type Address,
  address,
  getBase58Encoder,
  getOffchainMessageV0Encoder,
  getPublicKeyFromAddress,
  isOffchainMessageContentUtf8Of1232BytesMax,
  isSignatureBytes,
  OffchainMessageContentFormat,
  offchainMessageApplicationDomain,
  verifySignature,
} from '@solana/kit'
import { badSignature, malformedSignature } from './errors.ts'

const BASE58_SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/

const base58 = getBase58Encoder()
const envelopeEncoder = getOffchainMessageV0Encoder()
const NO_APPLICATION_DOMAIN = offchainMessageApplicationDomain('11111111111111111111111111111111')

/** The limit of hardware wallets, 1232 bytes, minus the 85 bytes of the envelope for one signer. */
const ENVELOPE_MAX_TEXT_BYTES = 1232 - 85

/** Hardware wallets sign the text in this envelope. Undefined when the text is too long for it. */
const offchainEnvelope = (signer: Address, text: string): Uint8Array | undefined => {
  const content = { format: OffchainMessageContentFormat.UTF8_1232_BYTES_MAX, text }
  if (Buffer.byteLength(text) > ENVELOPE_MAX_TEXT_BYTES) return undefined
  if (!isOffchainMessageContentUtf8Of1232BytesMax(content)) return undefined
  const envelope = envelopeEncoder.encode({
    version: 0,
    applicationDomain: NO_APPLICATION_DOMAIN,
    requiredSignatories: [{ address: signer }],
    content,
  })
  return Uint8Array.from(envelope)
}

/** Throws unless the wallet signed the text, directly or in the off-chain envelope. */
export const verifySolana = async (wallet: string, text: string, signature: string): Promise<void> => {
  const expected = 'a Solana wallet sends 64 bytes in base58'
  if (!BASE58_SIGNATURE.test(signature)) throw malformedSignature(expected)
  const bytes = Uint8Array.from(base58.encode(signature))
  if (!isSignatureBytes(bytes)) throw malformedSignature(expected)

  const signer = address(wallet)
  const publicKey = await getPublicKeyFromAddress(signer)
  if (await verifySignature(publicKey, bytes, new TextEncoder().encode(text))) return
  const envelope = offchainEnvelope(signer, text)
  if (envelope !== undefined && (await verifySignature(publicKey, bytes, envelope))) return
  throw badSignature()
}
