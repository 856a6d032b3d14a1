import {
  createKeyPairSignerFromBytes,
  generateKeyPair,
  generateKeyPairSigner,
  getBase58Decoder,
  getBase58Encoder,
  signatureBytes,
  verifySignature,
} from '@solana/kit'
import { verifyMessage } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { evmWallet, solanaWallet } from './wallets.ts'

const TEXT = 'A text to sign.\nGröße'

test('evmWallet: signs as the account does', async () => {
  const wallet = evmWallet(privateKeyToAccount(generatePrivateKey()))
  const signature = (await wallet.signText(TEXT)) as `0x${string}`
  expect(await verifyMessage({ address: wallet.address as `0x${string}`, message: TEXT, signature })).toBe(
    true,
  )
})

describe('solanaWallet', () => {
  async function newKeypair(): Promise<Uint8Array> {
    const keys = await generateKeyPair(true)
    const seed = new Uint8Array(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).slice(-32)
    return Uint8Array.from([...seed, ...new Uint8Array(await crypto.subtle.exportKey('raw', keys.publicKey))])
  }

  test.each([
    ['bytes', (bytes: Uint8Array) => bytes],
    ['the numbers of a keypair file', (bytes: Uint8Array) => [...bytes]],
    ['base58', (bytes: Uint8Array) => getBase58Decoder().decode(bytes)],
  ])('reads %s and signs with the key of its address', async (_, formOf) => {
    const bytes = await newKeypair()
    const { address, keyPair } = await createKeyPairSignerFromBytes(bytes)
    const wallet = await solanaWallet(formOf(bytes))
    expect(wallet).toMatchObject({ address, chain: 'solana' })
    const signature = signatureBytes(getBase58Encoder().encode(await wallet.signText(TEXT)) as Uint8Array)
    expect(await verifySignature(keyPair.publicKey, signature, new TextEncoder().encode(TEXT))).toBe(true)
  })

  test('takes a pair of Web Crypto keys', async () => {
    const { address, keyPair } = await generateKeyPairSigner()
    expect((await solanaWallet(keyPair)).address).toBe(address)
  })

  test.each([
    ['32 bytes', new Uint8Array(32), /has 64 bytes, not 32/],
    ['text that is not base58', 'O0Il', /must be base58/],
  ])('rejects %s', async (_, keypair, message) => {
    await expect(solanaWallet(keypair)).rejects.toThrow(message)
  })
})
