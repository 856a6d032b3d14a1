import { solanaSigner } from '@market/testing/solana-signer'
import { getBase58Decoder, getBase58Encoder } from '@solana/kit'
import { expect, test } from 'vitest'
import { SMALL_ORDER_KEYS } from './small-order-keys.ts'
import { apiError, everyCharacterDropped, everyCharacterReplaced, proofBy } from './test-support.ts'
import { walletSignatures } from './wallet-signatures.ts'

const signatures = walletSignatures({
  domain: 'market.example',
  uri: 'https://market.example',
  evmRpcUrls: [],
})
const now = new Date('2026-03-01T12:00:00.000Z')
const signer = await solanaSigner()

const bytesOf = (base58: string) => Uint8Array.from(getBase58Encoder().encode(base58))
const base58Of = (bytes: Uint8Array) => getBase58Decoder().decode(bytes)

test('accepts a signature over the text', async () => {
  const proof = await proofBy(signatures, signer, now, 'session')
  await expect(signatures.verify(proof, 'session', now)).resolves.toBe('key')
})

test('accepts a signature over the off-chain envelope of hardware wallets', async () => {
  const device = { address: signer.address, sign: signer.signOffchain }
  const proof = await proofBy(signatures, device, now, 'session')
  await expect(signatures.verify(proof, 'session', now)).resolves.toBe('key')
})

test('a purpose too long for the envelope is accepted only as a signature over the text', async () => {
  const purpose = `agents.register:${'字'.repeat(400)}`
  const proof = await proofBy(signatures, signer, now, purpose)
  await expect(signatures.verify(proof, purpose, now)).resolves.toBe('key')
  const other = await proofBy(signatures, await solanaSigner(), now, purpose)
  const stolen = { ...other, wallet: proof.wallet }
  expect(await apiError(signatures.verify(stolen, purpose, now))).toMatchObject({ kind: 'unauthenticated' })
})

test('handles a purpose of any length', async () => {
  const other = await solanaSigner()
  for (let length = 1; length <= 500; length += 1) {
    const purpose = `orders.pay:${'字'.repeat(length)}`
    const proof = await proofBy(signatures, other, now, purpose)
    const stolen = {
      ...proof,
      wallet: { chain: 'solana', address: signer.address, key: signer.address },
    } as const
    expect(await apiError(signatures.verify(stolen, purpose, now))).toMatchObject({ kind: 'unauthenticated' })
  }
})

test('rejects a signature for another purpose, with and without envelope', async () => {
  for (const sign of [signer.sign, signer.signOffchain]) {
    const proof = await proofBy(signatures, { address: signer.address, sign }, now, 'session')
    const answer = await apiError(signatures.verify(proof, 'agents.recover', now))
    expect(answer).toMatchObject({ kind: 'unauthenticated', extra: { code: 'bad_signature' } })
  }
})

test('rejects a text with one changed, missing or added character', async () => {
  const proof = await proofBy(signatures, signer, now, 'session')
  const text = signatures.messageToSign(proof.wallet, proof.signedAtMs, 'session')
  const added = [`${text}\n`, ` ${text}`]
  for (const changed of [...everyCharacterReplaced(text), ...everyCharacterDropped(text), ...added]) {
    const forged = { ...proof, signature: await signer.sign(changed) }
    expect(await apiError(signatures.verify(forged, 'session', now))).toMatchObject({
      kind: 'unauthenticated',
    })
  }
})

test('rejects a signature with one changed bit', async () => {
  const proof = await proofBy(signatures, signer, now, 'session')
  for (let bit = 0; bit < 512; bit += 1) {
    const bytes = bytesOf(proof.signature)
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    const forged = { ...proof, signature: base58Of(bytes) }
    expect(await apiError(signatures.verify(forged, 'session', now))).toMatchObject({
      kind: 'unauthenticated',
    })
  }
})

test('a lower-cased Solana address is rejected or is another wallet', async () => {
  const proof = await proofBy(signatures, signer, now, 'session')
  const address = signer.address.toLowerCase()
  const forged = { ...proof, wallet: { chain: 'solana', address, key: address } } as const
  const answer = await apiError(signatures.verify(forged, 'session', now))
  expect(['invalid', 'unauthenticated']).toContain(answer.kind)
})

test.each([
  ['empty', ''],
  ['hexadecimal', `0x${'ab'.repeat(64)}`],
  ['63 bytes', base58Of(new Uint8Array(63).fill(7))],
  ['65 bytes', base58Of(new Uint8Array(65).fill(7))],
  ['not base58', '0'.repeat(88)],
  ['very long', '1'.repeat(1_000_000)],
])('a signature that is %s is rejected as malformed', async (_name, signature) => {
  const proof = await proofBy(signatures, signer, now, 'session')
  const answer = await apiError(signatures.verify({ ...proof, signature }, 'session', now))
  expect(answer).toMatchObject({
    kind: 'unauthenticated',
    extra: { code: 'bad_wallet_fields', details: [{ path: 'wallet_sig' }] },
  })
})

test.each(SMALL_ORDER_KEYS)('the key %s cannot sign in, even past the parser', async (hex) => {
  const address = base58Of(Buffer.from(hex, 'hex'))
  const signature = base58Of(Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(32)]))
  const proof = {
    wallet: { chain: 'solana', address, key: address },
    signature,
    signedAtMs: now.getTime(),
  } as const
  expect(await apiError(signatures.verify(proof, 'session', now))).toMatchObject({
    kind: 'unauthenticated',
    extra: { code: 'bad_wallet_fields' },
  })
})

test('rejects a wallet whose key does not match its address', async () => {
  const proof = await proofBy(signatures, signer, now, 'session')
  const victim = (await solanaSigner()).address
  const forged = { ...proof, wallet: { ...proof.wallet, key: victim } }
  expect(await apiError(signatures.verify(forged, 'session', now))).toMatchObject({
    kind: 'unauthenticated',
    extra: { code: 'bad_wallet_fields' },
  })
})
