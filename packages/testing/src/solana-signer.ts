import {
  generateKeyPair,
  getAddressFromPublicKey,
  getBase58Decoder,
  getBase58Encoder,
  signBytes,
} from '@solana/kit'

export interface SolanaSigner {
  readonly address: string
  /** Signature over the text, in base58. */
  sign(message: string): Promise<string>
  /** Signature over the off-chain envelope of hardware wallets, in base58. */
  signOffchain(message: string): Promise<string>
}

/** Encodes version 0 without the library, so that a test does not compare the library with itself. */
const offchainEnvelope = (signer: Uint8Array, text: Uint8Array): Uint8Array => {
  const domain = Buffer.from('\xffsolana offchain', 'latin1')
  const version = 0
  const noApplication = new Uint8Array(32)
  const utf8 = 1
  const signers = 1
  const length = [text.length & 0xff, text.length >> 8]
  return Uint8Array.from([...domain, version, ...noApplication, utf8, signers, ...signer, ...length, ...text])
}

/** A new Solana wallet with its own key. */
export const solanaSigner = async (): Promise<SolanaSigner> => {
  const { privateKey, publicKey } = await generateKeyPair()
  const address = await getAddressFromPublicKey(publicKey)
  const key = Uint8Array.from(getBase58Encoder().encode(address))
  const signed = async (bytes: Uint8Array) => getBase58Decoder().decode(await signBytes(privateKey, bytes))
  return {
    address,
    sign: (message) => signed(new TextEncoder().encode(message)),
    signOffchain: (message) => signed(offchainEnvelope(key, new TextEncoder().encode(message))),
  }
}
