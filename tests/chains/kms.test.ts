import { randomBytes } from 'node:crypto'
import { parseDerSignature } from '@market/chains/kms/der-signature'
import { kmsEvmSigner } from '@market/chains/kms/kms-evm-signer'
import { kmsSolanaSigner } from '@market/chains/kms/kms-solana-signer'
import { solanaPayoutSender } from '@market/chains/solana/solana-payout-sender'
import { usdc } from '@market/kernel/money'
import { startAnvil } from '@market/testing/anvil'
import { type KmsServer, startKmsServer } from '@market/testing/kms-server'
import {
  address,
  generateKeyPairSigner,
  getPublicKeyFromAddress,
  signatureBytes,
  verifySignature,
} from '@solana/kit'
import {
  createTestClient,
  http,
  keccak256,
  numberToHex,
  parseEther,
  publicActions,
  recoverAddress,
  serializeTransaction,
  toHex,
  walletActions,
} from 'viem'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startSolanaWorld } from './solana-support.ts'

const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

let kms: KmsServer
beforeAll(async () => {
  kms = await startKmsServer()
})
afterAll(() => kms.stop())
beforeEach(() => kms.set({ down: false, silent: false, highS: false, otherKey: false }))

const settings = (keyId: string, timeoutMs = 5_000) => ({
  keyId,
  region: 'eu-central-1',
  endpoint: kms.endpoint,
  credentials: kms.credentials,
  timeoutMs,
})
const evmSigner = () => kmsEvmSigner(settings(kms.createKey('ECC_SECG_P256K1')))
const solanaSigner = () => kmsSolanaSigner(settings(kms.createKey('ECC_NIST_EDWARDS25519')))

describe('a secp256k1 key in the KMS', () => {
  test.each([false, true])(
    'returns signatures with low s that recover to its address (high s: %s)',
    async (highS) => {
      kms.set({ highS })
      const signer = await evmSigner()
      for (let round = 0; round < 20; round += 1) {
        const hash = Uint8Array.from(randomBytes(32))
        const { r, s, yParity } = await signer.signHash(hash)
        expect(s <= N / 2n).toBe(true)
        const words = { r: numberToHex(r, { size: 32 }), s: numberToHex(s, { size: 32 }), yParity }
        expect(await recoverAddress({ hash: toHex(hash), signature: words })).toBe(signer.address)
      }
    },
  )

  test('signs a transaction that an EVM node accepts', async () => {
    kms.set({ highS: true })
    const anvil = await startAnvil({ chainId: foundry.id })
    try {
      const transport = http(anvil.url)
      const node = createTestClient({ chain: foundry, mode: 'anvil', transport })
        .extend(publicActions)
        .extend(walletActions)
      const signer = await evmSigner()
      const from = signer.address as `0x${string}`
      await node.setBalance({ address: from, value: parseEther('1') })
      const transaction = {
        type: 'eip1559' as const,
        chainId: foundry.id,
        nonce: 0,
        to: `0x${'ab'.repeat(20)}` as const,
        value: 12_345n,
        gas: 21_000n,
        maxFeePerGas: 10n ** 10n,
        maxPriorityFeePerGas: 1n,
      }
      const hash = keccak256(serializeTransaction(transaction), 'bytes')
      const { r, s, yParity } = await signer.signHash(hash)
      const signature = { r: numberToHex(r, { size: 32 }), s: numberToHex(s, { size: 32 }), yParity }
      const serializedTransaction = serializeTransaction(transaction, signature)
      const sent = await node.sendRawTransaction({ serializedTransaction })
      const receipt = await node.waitForTransactionReceipt({ hash: sent })
      expect(receipt).toMatchObject({ status: 'success', from: from.toLowerCase() })
      expect(await node.getBalance({ address: transaction.to })).toBe(12_345n)
    } finally {
      await anvil.stop()
    }
  })

  test('rejects input that is not a 32-byte hash', async () => {
    const signer = await evmSigner()
    await expect(signer.signHash(new Uint8Array(31))).rejects.toThrow(/32 bytes/)
  })
})

describe('an Ed25519 key in the KMS', () => {
  test('returns signatures that verify with its address', async () => {
    const signer = await solanaSigner()
    const key = await getPublicKeyFromAddress(address(signer.address))
    for (const length of [1, 64, 1_232]) {
      const message = Uint8Array.from(randomBytes(length))
      const signature = signatureBytes(await signer.signMessage(message))
      expect(await verifySignature(key, signature, message)).toBe(true)
    }
  })

  test('signs a payout that a Solana node accepts', async () => {
    const world = await startSolanaWorld({ slotTimeMs: 10 })
    try {
      const signer = await solanaSigner()
      await world.chain.fundSol(signer.address, 10n ** 9n)
      await world.usdc.fund(signer.address, 5_000_000n)
      const sender = solanaPayoutSender({ ...world.settings, treasury: signer.address }, signer)
      const to = (await generateKeyPairSigner()).address
      const signed = await sender.sign(
        { mark: 'po_kms', to, amount: usdc(2_000_000n), opensAccount: true },
        0,
      )
      await sender.send(signed)
      let outcome = await sender.observe([signed])
      while (outcome.kind === 'unknown' || outcome.kind === 'seen') outcome = await sender.observe([signed])
      expect(outcome).toEqual({ kind: 'final', reference: signed.reference })
      expect(await world.usdc.balanceOf(to)).toBe(2_000_000n)
    } finally {
      await world.stop()
    }
  })
})

describe.each([
  ['secp256k1', evmSigner, (signer: unknown) => (signer as Awaited<ReturnType<typeof evmSigner>>).signHash],
  [
    'Ed25519',
    solanaSigner,
    (signer: unknown) => (signer as Awaited<ReturnType<typeof solanaSigner>>).signMessage,
  ],
])('when the KMS fails (%s)', (_name, open, signOf) => {
  const message = new Uint8Array(32).fill(7)

  test('throws `unavailable` during an outage and works again afterwards', async () => {
    const sign = signOf(await open())
    kms.set({ down: true })
    await expect(sign(message)).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(open()).rejects.toMatchObject({ kind: 'unavailable' })
    kms.set({ down: false })
    await expect(sign(message)).resolves.toBeDefined()
  })

  test('throws when the KMS signs with a key other than the returned public key', async () => {
    const sign = signOf(await open())
    kms.set({ otherKey: true })
    await expect(sign(message)).rejects.toThrow(/different key/)
  })
})

test('a KMS that does not respond: throws `unavailable` after the timeout', async () => {
  const keyId = kms.createKey('ECC_SECG_P256K1')
  kms.set({ silent: true })
  const started = performance.now()
  await expect(kmsEvmSigner(settings(keyId, 300))).rejects.toMatchObject({ kind: 'unavailable' })
  expect(performance.now() - started).toBeLessThan(5_000)
})

test('a key with another spec or an unknown id is rejected at start', async () => {
  await expect(kmsSolanaSigner(settings(kms.createKey('ECC_SECG_P256K1')))).rejects.toThrow(
    /not a ECC_NIST_EDWARDS25519/,
  )
  await expect(kmsEvmSigner(settings(kms.createKey('ECC_NIST_EDWARDS25519')))).rejects.toThrow(
    /not a ECC_SECG_P256K1/,
  )
  await expect(kmsEvmSigner(settings('unknown-key'))).rejects.toMatchObject({ kind: 'unavailable' })
})

test('a call with wrong credentials throws and signs nothing', async () => {
  const keyId = kms.createKey('ECC_SECG_P256K1')
  const credentials = { accessKeyId: 'AKIAOTHER', secretAccessKey: 'x' }
  await expect(kmsEvmSigner({ ...settings(keyId), credentials })).rejects.toMatchObject({
    kind: 'unavailable',
  })
})

test.each([
  ['no bytes', ''],
  ['another tag', '3106020101020101'],
  ['a wrong length', '3007020101020101'],
  ['a missing s', '3003020101'],
  ['bytes after the end', '300902010102010102012a'],
  ['an integer without digits', '30050200020101'],
])('a DER signature with %s is rejected', (_name, hex) => {
  expect(() => parseDerSignature(Buffer.from(hex, 'hex'))).toThrow(/DER|follow/)
})
