import { startAnvil } from '@market/testing/anvil'
import { type EvmSigner, evmSigner } from '@market/testing/evm-signer'
import { smartWallet } from '@market/testing/smart-wallet'
import { afterAll, expect, test } from 'vitest'
import { relayTo } from './test-relay.ts'
import { apiError, everyCharacterReplaced, proofBy } from './test-support.ts'
import { walletSignatures } from './wallet-signatures.ts'

const anvil = await startAnvil({ chainId: 8453 })
const relay = await relayTo(anvil.url)
afterAll(async () => {
  await relay.stop()
  await anvil.stop()
})

const site = { domain: 'market.example', uri: 'https://market.example' }
const signatures = walletSignatures({ ...site, evmRpcUrls: [relay.url] })
const now = new Date('2026-03-01T12:00:00.000Z')
const later = (ms: number) => new Date(now.getTime() + ms)
const wrong = { kind: 'unauthenticated', extra: { code: 'bad_signature' } }

const questionsDuring = async (work: () => Promise<unknown>): Promise<number> => {
  const before = relay.requests()
  await work()
  return relay.requests() - before
}

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const hex32 = (value: bigint) => value.toString(16).padStart(64, '0')
/** The other signature that recovers to the same key: s mirrored, v flipped. */
const highS = (signature: string) => {
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  return `${signature.slice(0, 66)}${hex32(ORDER - s)}${signature.endsWith('1b') ? '1c' : '1b'}`
}
const withV = (signature: string, v: number) => signature.slice(0, 130) + v.toString(16).padStart(2, '0')
const vOf = (signature: string) => Number.parseInt(signature.slice(130), 16)

test('accepts a key signature without a chain request', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  expect(await questionsDuring(() => signatures.verify(proof, 'session', now))).toBe(0)
})

test('accepts a wallet in lower case, with the same text', async () => {
  const signer = evmSigner()
  const lower = { address: signer.address.toLowerCase(), sign: signer.sign }
  const proof = await proofBy(signatures, lower, now, 'session')
  expect(signatures.messageToSign(proof.wallet, proof.signedAtMs, 'session')).toContain(
    `\n${signer.address}\n`,
  )
  await signatures.verify(proof, 'session', now)
})

test('accepts a signature in upper-case hex', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const signature = `0x${proof.signature.slice(2).toUpperCase()}`
  await signatures.verify({ ...proof, signature }, 'session', now)
})

test('verify returns `key` for a key signature, also for one that is checked for another network', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  expect(await signatures.verify(proof, 'session', now)).toBe('key')
  expect(await signatures.verify({ ...proof, network: 'alt-mainnet' }, 'session', now)).toBe('key')
})

test('accepts v as 0 or 1 and as 27 or 28', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const signature = withV(proof.signature, vOf(proof.signature) - 27)
  expect(await questionsDuring(() => signatures.verify({ ...proof, signature }, 'session', now))).toBe(0)
})

test.each([2, 26, 29, 31, 35, 255])('v of %i is rejected', async (v) => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const forged = { ...proof, signature: withV(proof.signature, v) }
  expect(await apiError(signatures.verify(forged, 'session', now))).toMatchObject(wrong)
})

test('rejects the high-s form of a valid signature without a chain request', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const forged = { ...proof, signature: highS(proof.signature) }
  const asked = await questionsDuring(async () => {
    expect(await apiError(signatures.verify(forged, 'session', now))).toMatchObject(wrong)
  })
  expect(asked).toBe(0)
})

test.each([
  ['r is zero', (s: string) => `0x${hex32(0n)}${s.slice(66)}`],
  ['s is zero', (s: string) => `${s.slice(0, 66)}${hex32(0n)}${s.slice(130)}`],
  ['r is the order', (s: string) => `0x${hex32(ORDER)}${s.slice(66)}`],
  ['s is the order', (s: string) => `${s.slice(0, 66)}${hex32(ORDER)}${s.slice(130)}`],
  ['all is zero', () => `0x${'00'.repeat(65)}`],
])('a signature where %s is rejected', async (_name, change) => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const forged = { ...proof, signature: change(proof.signature) }
  expect(await apiError(signatures.verify(forged, 'session', now))).toMatchObject(wrong)
})

test('rejects a signature for another purpose', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const answer = await apiError(signatures.verify(proof, 'agents.owner:agt_1', now))
  expect(answer).toMatchObject(wrong)
})

test('rejects a signature for another site', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const domain = walletSignatures({ ...site, domain: 'other.example', evmRpcUrls: [relay.url] })
  const uri = walletSignatures({ ...site, uri: 'https://other.example', evmRpcUrls: [relay.url] })
  expect(await apiError(domain.verify(proof, 'session', now))).toMatchObject(wrong)
  expect(await apiError(uri.verify(proof, 'session', now))).toMatchObject(wrong)
})

test('rejects a changed wallet_sig_ts', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const forged = { ...proof, signedAtMs: proof.signedAtMs + 1 }
  expect(await apiError(signatures.verify(forged, 'session', now))).toMatchObject(wrong)
})

test('rejects a signature over a text with one changed character', async () => {
  const signer = evmSigner()
  const proof = await proofBy(signatures, signer, now, 'session')
  const text = signatures.messageToSign(proof.wallet, proof.signedAtMs, 'session')
  for (const changed of everyCharacterReplaced(text)) {
    const forged = { ...proof, signature: await signer.sign(changed) }
    expect(await apiError(signatures.verify(forged, 'session', now))).toMatchObject(wrong)
  }
})

test('accepts a signature for exactly 300 seconds (asvs V6.2)', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  await signatures.verify(proof, 'session', later(300_000))
  const answer = await apiError(signatures.verify(proof, 'session', later(300_001)))
  expect(answer).toMatchObject({ kind: 'unauthenticated', message: expect.stringContaining('Sign again') })
})

test("accepts a signer's clock that is up to exactly 60 seconds ahead", async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  await signatures.verify(proof, 'session', later(-60_000))
  const answer = await apiError(signatures.verify(proof, 'session', later(-60_001)))
  expect(answer).toMatchObject({ kind: 'unauthenticated', message: expect.stringContaining('clock') })
})

test('rejects wallet_sig_ts in seconds with a message that names the unit', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const seconds = { ...proof, signedAtMs: proof.signedAtMs / 1000 }
  const answer = await apiError(signatures.verify(seconds, 'session', now))
  expect(answer).toMatchObject({
    kind: 'unauthenticated',
    message: expect.stringContaining('Multiply seconds by 1000'),
    extra: { code: 'bad_wallet_fields', details: [{ path: 'wallet_sig_ts' }] },
  })
})

test.each([
  ['empty', ''],
  ['without 0x', 'ab'.repeat(65)],
  ['of half a byte', `0x${'ab'.repeat(64)}a`],
  ['too short', `0x${'ab'.repeat(63)}`],
  ['too long', `0x${'ab'.repeat(8193)}`],
  ['not hexadecimal', `0x${'zz'.repeat(65)}`],
  ['followed by a line break', `0x${'ab'.repeat(64)}b\n`],
  ['base58', '5'.repeat(88)],
])('a signature that is %s is rejected as malformed without a chain request', async (_name, signature) => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const asked = await questionsDuring(async () => {
    const answer = await apiError(signatures.verify({ ...proof, signature }, 'session', now))
    expect(answer).toMatchObject({
      kind: 'unauthenticated',
      extra: { code: 'bad_wallet_fields', details: [{ path: 'wallet_sig' }] },
    })
  })
  expect(asked).toBe(0)
})

test('a wrong signature causes at most one request per node', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const others = [
    await evmSigner().sign('x'),
    `0x${'ab'.repeat(8192)}`,
    `0x${'ab'.repeat(64)}${'6492'.repeat(16)}`,
  ]
  for (const signature of others) {
    const asked = await questionsDuring(async () => {
      expect(await apiError(signatures.verify({ ...proof, signature }, 'session', now))).toMatchObject(wrong)
    })
    expect(asked).toBe(1)
  }
})

test('accepts an ERC-6492 signature of an undeployed smart wallet, which stays undeployed', async () => {
  const wallet = await smartWallet(anvil.url, evmSigner())
  const counterfactual = { address: wallet.address, sign: wallet.signCounterfactual }
  const proof = await proofBy(signatures, counterfactual, now, 'session')
  expect(await signatures.verify(proof, 'session', now)).toBe('base-mainnet')
  const bare = await proofBy(signatures, wallet, now, 'session')
  expect(await apiError(signatures.verify(bare, 'session', now))).toMatchObject(wrong)
})

test('accepts an ERC-1271 signature of a deployed smart wallet, with and without wrapper', async () => {
  const wallet = await smartWallet(anvil.url, evmSigner())
  await wallet.deploy()
  const proof = await proofBy(signatures, wallet, now, 'session')
  expect(await signatures.verify(proof, 'session', now)).toBe('base-mainnet')
  const wrapped = { address: wallet.address, sign: wallet.signCounterfactual }
  await signatures.verify(await proofBy(signatures, wrapped, now, 'session'), 'session', now)
})

test("rejects a smart wallet's signature for another purpose, deployed or not", async () => {
  const wallet = await smartWallet(anvil.url, evmSigner())
  const wrapped = { address: wallet.address, sign: wallet.signCounterfactual }
  const proof = await proofBy(signatures, wrapped, now, 'session')
  expect(await apiError(signatures.verify(proof, 'agents.recover', now))).toMatchObject(wrong)
  await wallet.deploy()
  expect(await apiError(signatures.verify(proof, 'agents.recover', now))).toMatchObject(wrong)
  const bare = await proofBy(signatures, wallet, now, 'session')
  expect(await apiError(signatures.verify(bare, 'agents.recover', now))).toMatchObject(wrong)
})

test("rejects the signature of another owner for a smart wallet, also with that owner's factory call", async () => {
  const mine = await smartWallet(anvil.url, evmSigner())
  const theirs = await smartWallet(anvil.url, evmSigner())
  const thief = { address: theirs.address, sign: mine.signCounterfactual }
  const proof = await proofBy(signatures, thief, now, 'session')
  expect(await apiError(signatures.verify(proof, 'session', now))).toMatchObject(wrong)
  await theirs.deploy()
  expect(await apiError(signatures.verify(proof, 'session', now))).toMatchObject(wrong)
})

test('rejects an ERC-6492 wrapped signature for a key wallet', async () => {
  const victim = evmSigner()
  const mine = await smartWallet(anvil.url, evmSigner())
  const thief: EvmSigner = { address: victim.address, sign: mine.signCounterfactual }
  const proof = await proofBy(signatures, thief, now, 'session')
  expect(await apiError(signatures.verify(proof, 'session', now))).toMatchObject(wrong)
})
