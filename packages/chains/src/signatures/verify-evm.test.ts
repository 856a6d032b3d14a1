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
  const before = relay.asked()
  await work()
  return relay.asked() - before
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

test('a plain wallet signs in and the chain is not asked', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  expect(await questionsDuring(() => signatures.verify(proof, 'session', now))).toBe(0)
})

test('a wallet written in lower case signs the same text', async () => {
  const signer = evmSigner()
  const lower = { address: signer.address.toLowerCase(), sign: signer.sign }
  const proof = await proofBy(signatures, lower, now, 'session')
  expect(signatures.messageToSign(proof.wallet, proof.signedAtMs, 'session')).toContain(
    `\n${signer.address}\n`,
  )
  await signatures.verify(proof, 'session', now)
})

test('a signature in upper-case digits is the same signature', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const signature = `0x${proof.signature.slice(2).toUpperCase()}`
  await signatures.verify({ ...proof, signature }, 'session', now)
})

test('v may be written 0 or 1 as well as 27 or 28', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const signature = withV(proof.signature, vOf(proof.signature) - 27)
  expect(await questionsDuring(() => signatures.verify({ ...proof, signature }, 'session', now))).toBe(0)
})

test.each([2, 26, 29, 31, 35, 255])('v of %i is rejected', async (v) => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const forged = { ...proof, signature: withV(proof.signature, v) }
  expect(await apiError(signatures.verify(forged, 'session', now))).toMatchObject(wrong)
})

test('the mirrored (high-s) twin of a right signature is rejected without asking the chain', async () => {
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

test('a signature for one purpose is rejected for another', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const answer = await apiError(signatures.verify(proof, 'agents.token.register:agt_1', now))
  expect(answer).toMatchObject(wrong)
})

test('a signature for one site is rejected at another', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const domain = walletSignatures({ ...site, domain: 'other.example', evmRpcUrls: [relay.url] })
  const uri = walletSignatures({ ...site, uri: 'https://other.example', evmRpcUrls: [relay.url] })
  expect(await apiError(domain.verify(proof, 'session', now))).toMatchObject(wrong)
  expect(await apiError(uri.verify(proof, 'session', now))).toMatchObject(wrong)
})

test('a changed time is rejected', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const forged = { ...proof, signedAtMs: proof.signedAtMs + 1 }
  expect(await apiError(signatures.verify(forged, 'session', now))).toMatchObject(wrong)
})

test('a text with any one character changed is rejected', async () => {
  const signer = evmSigner()
  const proof = await proofBy(signatures, signer, now, 'session')
  const text = signatures.messageToSign(proof.wallet, proof.signedAtMs, 'session')
  for (const changed of everyCharacterReplaced(text)) {
    const forged = { ...proof, signature: await signer.sign(changed) }
    expect(await apiError(signatures.verify(forged, 'session', now))).toMatchObject(wrong)
  }
})

test('a signature counts for 300 seconds to the millisecond', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  await signatures.verify(proof, 'session', later(300_000))
  const answer = await apiError(signatures.verify(proof, 'session', later(300_001)))
  expect(answer).toMatchObject({ kind: 'unauthenticated', message: expect.stringContaining('sign again') })
})

test("a signer's clock may run 60 seconds ahead, to the millisecond", async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  await signatures.verify(proof, 'session', later(-60_000))
  const answer = await apiError(signatures.verify(proof, 'session', later(-60_001)))
  expect(answer).toMatchObject({ kind: 'unauthenticated', message: expect.stringContaining('clock') })
})

test('seconds instead of milliseconds are rejected as invalid, and the sentence says so', async () => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const seconds = { ...proof, signedAtMs: proof.signedAtMs / 1000 }
  const answer = await apiError(signatures.verify(seconds, 'session', now))
  expect(answer).toMatchObject({
    kind: 'invalid',
    message: expect.stringContaining('seconds are not accepted'),
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
])('a signature that is %s is rejected as malformed without asking the chain', async (_name, signature) => {
  const proof = await proofBy(signatures, evmSigner(), now, 'session')
  const asked = await questionsDuring(async () => {
    const answer = await apiError(signatures.verify({ ...proof, signature }, 'session', now))
    expect(answer).toMatchObject({ kind: 'invalid', extra: { details: [{ path: 'wallet_sig' }] } })
  })
  expect(asked).toBe(0)
})

test('a wrong signature asks each chain node at most one question', async () => {
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

test('a smart wallet not yet deployed signs in by ERC-6492 and stays undeployed', async () => {
  const wallet = await smartWallet(anvil.url, evmSigner())
  const counterfactual = { address: wallet.address, sign: wallet.signCounterfactual }
  const proof = await proofBy(signatures, counterfactual, now, 'session')
  await signatures.verify(proof, 'session', now)
  const bare = await proofBy(signatures, wallet, now, 'session')
  expect(await apiError(signatures.verify(bare, 'session', now))).toMatchObject(wrong)
})

test('a deployed smart wallet signs in by ERC-1271, bare and wrapped', async () => {
  const wallet = await smartWallet(anvil.url, evmSigner())
  await wallet.deploy()
  await signatures.verify(await proofBy(signatures, wallet, now, 'session'), 'session', now)
  const wrapped = { address: wallet.address, sign: wallet.signCounterfactual }
  await signatures.verify(await proofBy(signatures, wrapped, now, 'session'), 'session', now)
})

test("a smart wallet's signature for one purpose is rejected for another, deployed or not", async () => {
  const wallet = await smartWallet(anvil.url, evmSigner())
  const wrapped = { address: wallet.address, sign: wallet.signCounterfactual }
  const proof = await proofBy(signatures, wrapped, now, 'session')
  expect(await apiError(signatures.verify(proof, 'wallet.export:agt_1', now))).toMatchObject(wrong)
  await wallet.deploy()
  expect(await apiError(signatures.verify(proof, 'wallet.export:agt_1', now))).toMatchObject(wrong)
  const bare = await proofBy(signatures, wallet, now, 'session')
  expect(await apiError(signatures.verify(bare, 'wallet.export:agt_1', now))).toMatchObject(wrong)
})

test("nobody signs in as a smart wallet of another owner, nor with the other's factory call", async () => {
  const mine = await smartWallet(anvil.url, evmSigner())
  const theirs = await smartWallet(anvil.url, evmSigner())
  const thief = { address: theirs.address, sign: mine.signCounterfactual }
  const proof = await proofBy(signatures, thief, now, 'session')
  expect(await apiError(signatures.verify(proof, 'session', now))).toMatchObject(wrong)
  await theirs.deploy()
  expect(await apiError(signatures.verify(proof, 'session', now))).toMatchObject(wrong)
})

test('wrapping a signature in ERC-6492 does not make anybody a plain wallet', async () => {
  const victim = evmSigner()
  const mine = await smartWallet(anvil.url, evmSigner())
  const thief: EvmSigner = { address: victim.address, sign: mine.signCounterfactual }
  const proof = await proofBy(signatures, thief, now, 'session')
  expect(await apiError(signatures.verify(proof, 'session', now))).toMatchObject(wrong)
})
