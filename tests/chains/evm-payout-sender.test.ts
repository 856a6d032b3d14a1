import { evmChain } from '@market/chains/evm/evm-chain'
import { type EvmPayoutSenderSettings, evmPayoutSender } from '@market/chains/evm/evm-payout-sender'
import { localEvmSigner } from '@market/chains/local-signers'
import type { PayoutRequest, PayoutSender, SignedTransfer } from '@market/core/ports/payout-sender'
import { usdc } from '@market/kernel/money'
import { startEvmNetwork } from '@market/testing/evm-network'
import { type Hex, parseTransaction, toHex, zeroAddress } from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { FINALITY, GWEI, newAccount, question, settingsFor, verdict } from './evm-world.ts'

const network = await startEvmNetwork({ chainId: 8453 })
afterAll(() => network.stop())
beforeEach(async () => {
  await network.automine(true)
  await network.mine(1)
})

const treasuryWith = async (amount = 1_000_000_000n, changes: Partial<EvmPayoutSenderSettings> = {}) => {
  const account = newAccount()
  await network.fund(account.address)
  await network.mint(account.address, amount)
  const settings = settingsFor(network, account.address, changes)
  return { account, settings, sender: evmPayoutSender(settings, localEvmSigner(account.key)) }
}

let orders = 0
const orderOf = (amount: bigint, to: string = newAccount().address): PayoutRequest => {
  orders += 1
  return { payoutId: `pay_0test${orders}`, to, amount: usdc(amount) }
}

/** Signs with the chain's nonce, stores the transaction as text and sends the stored transaction. */
const signAndKeep = async (
  sender: PayoutSender,
  order: PayoutRequest,
  nonce: bigint,
  before: SignedTransfer[] = [],
) => {
  const signed = await sender.sign(order, nonce, before)
  return { ...signed, bytes: String(signed.bytes) }
}

const nonceOf = async (address: string) =>
  BigInt(String(await network.rpc('eth_getTransactionCount', [address, 'latest'])))
const payload = ({ bytes }: SignedTransfer) => parseTransaction(bytes as Hex)

test('a payout is signed, stored, sent, seen and then final, and the payee has the money', async () => {
  const { sender, account } = await treasuryWith()
  const order = orderOf(5_000_000n)
  expect(await sender.nonces()).toEqual({ next: 0n, pending: 0n })
  const signed = await signAndKeep(sender, order, 0n)
  expect(await sender.observe([signed])).toEqual({ kind: 'unknown' })
  await sender.send(signed)
  expect(await sender.observe([signed])).toEqual({ kind: 'seen', reference: signed.reference })
  expect(await network.balanceOf(order.to as Hex)).toBe(5_000_000n)
  await network.mine(FINALITY - 2)
  expect(await sender.observe([signed])).toEqual({ kind: 'seen', reference: signed.reference })
  await network.mine(1)
  expect(await sender.observe([signed])).toEqual({
    kind: 'final',
    reference: signed.reference,
    cost: expect.any(BigInt),
  })
  expect(await sender.nonces()).toEqual({ next: 1n, pending: 1n })
  expect(await nonceOf(account.address)).toBe(1n)
})

test('the reference is known before sending, and the transaction contains the payout id', async () => {
  const { sender } = await treasuryWith()
  const order = orderOf(7n)
  const signed = await signAndKeep(sender, order, 0n)
  const { data, gas, nonce, chainId, to, value } = payload(signed)
  expect(data?.endsWith(toHex(order.payoutId).slice(2))).toBe(true)
  expect({ gas, chainId, nonce: nonce ?? 0, to, value: value ?? 0n }).toEqual({
    gas: 100_000n,
    chainId: 8453,
    nonce: 0,
    to: network.usdc.toLowerCase(),
    value: 0n,
  })
  expect(await network.rpc('eth_sendRawTransaction', [signed.bytes])).toBe(signed.reference)
})

test('sending the same transaction many times pays once', async () => {
  const { sender, account } = await treasuryWith()
  const order = orderOf(3n)
  await network.automine(false)
  const signed = await signAndKeep(sender, order, 0n)
  await sender.send(signed)
  await sender.send(signed)
  await network.mine(1)
  await sender.send(signed)
  await network.mine(FINALITY)
  await sender.send(signed)
  expect(await network.balanceOf(order.to as Hex)).toBe(3n)
  expect(await nonceOf(account.address)).toBe(1n)
})

test('two equal payouts have different transactions, also at the same nonce', async () => {
  const { sender } = await treasuryWith()
  const [one, other] = [
    orderOf(3n, zeroAddress.replace(/0$/, '9')),
    orderOf(3n, zeroAddress.replace(/0$/, '9')),
  ]
  const [first, second] = [await signAndKeep(sender, one, 0n), await signAndKeep(sender, other, 0n)]
  expect(first.reference).not.toBe(second.reference)
  expect(payload(first).data).not.toBe(payload(second).data)
})

test('a payout with a too low fee is replaced at its nonce, and only one of the two is executed', async () => {
  const { sender, account } = await treasuryWith()
  const order = orderOf(9n)
  await network.automine(false)
  const stuck = await signAndKeep(sender, order, 0n)
  await sender.send(stuck)
  const dear = (stuck.maxFeePerGas ?? 0n) * 3n
  await network.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(dear)])
  await network.mine(1)
  expect(await sender.observe([stuck])).toEqual({ kind: 'unknown' })

  const replacement = await signAndKeep(sender, order, 0n, [stuck])
  expect(replacement.nonce).toBe(0n)
  expect(payload(replacement).data).toBe(payload(stuck).data)
  await sender.send(replacement)
  await network.mine(1)
  const seen = { kind: 'seen', reference: replacement.reference }
  expect(await sender.observe([stuck, replacement])).toEqual(seen)
  await network.mine(FINALITY)
  expect(await sender.observe([stuck, replacement])).toEqual({
    ...seen,
    kind: 'final',
    cost: expect.any(BigInt),
  })
  await sender.send(stuck)
  await network.mine(1)
  expect(await network.balanceOf(order.to as Hex)).toBe(9n)
  expect(await nonceOf(account.address)).toBe(1n)
})

test('every replacement raises both fees by at least 12.5 %', async () => {
  const { sender } = await treasuryWith()
  const order = orderOf(1n)
  const signed: SignedTransfer[] = []
  for (let round = 0; round < 6; round++) signed.push(await signAndKeep(sender, order, 0n, signed))
  for (const [index, later] of signed.slice(1).entries())
    for (const before of signed.slice(0, index + 1)) {
      expect((later.maxFeePerGas ?? 0n) * 1000n).toBeGreaterThanOrEqual((before.maxFeePerGas ?? 0n) * 1125n)
      expect((later.maxPriorityFeePerGas ?? 0n) * 1000n).toBeGreaterThanOrEqual(
        (before.maxPriorityFeePerGas ?? 0n) * 1125n,
      )
      expect(later.maxFeePerGas).toBeGreaterThanOrEqual(later.maxPriorityFeePerGas ?? 0n)
    }
})

test('signs nothing above the fee cap', async () => {
  const { sender } = await treasuryWith(10n, { feeCapPerGas: 30n * GWEI })
  const order = orderOf(1n)
  const high = { maxFeePerGas: 28n * GWEI, maxPriorityFeePerGas: GWEI }
  const before = { ...(await signAndKeep(sender, order, 0n)), ...high }
  expect(before.maxFeePerGas).toBeLessThanOrEqual(30n * GWEI)
  await expect(sender.sign(order, 0n, [before])).rejects.toMatchObject({ kind: 'unavailable' })
})

test('a payout removed by a reorganization is paid after it is sent again', async () => {
  const { sender } = await treasuryWith()
  const order = orderOf(4n)
  await network.mine(3)
  const signed = await signAndKeep(sender, order, 0n)
  await sender.send(signed)
  await network.mine(1)
  expect(await sender.observe([signed])).toMatchObject({ kind: 'seen' })
  await network.reorg(2)
  expect(await sender.observe([signed])).toEqual({ kind: 'unknown' })
  expect(await network.balanceOf(order.to as Hex)).toBe(0n)
  await sender.send(signed)
  await network.mine(FINALITY)
  expect(await sender.observe([signed])).toEqual({
    kind: 'final',
    reference: signed.reference,
    cost: expect.any(BigInt),
  })
  expect(await network.balanceOf(order.to as Hex)).toBe(4n)
})

test('rejects a blocked payee with the token’s revert reason', async () => {
  const { sender, account } = await treasuryWith()
  const order = orderOf(4n)
  expect(await sender.rejectionReason(order)).toBeUndefined()
  await network.deny(order.to as Hex, true)
  expect(await sender.rejectionReason(order)).toBe('Blacklistable: account is blacklisted')
  expect(await nonceOf(account.address)).toBe(0n)
})

test('a low or blocked treasury does not reject the payee', async () => {
  const { sender, account } = await treasuryWith(3n)
  expect(await sender.rejectionReason(orderOf(4n))).toBeUndefined()
  await network.deny(account.address, true)
  await expect(sender.rejectionReason(orderOf(1n))).rejects.toMatchObject({ kind: 'unavailable' })
})

test('rejects the zero address, the token, own addresses and invalid addresses as payee', async () => {
  const vault = newAccount().address
  const { sender, account } = await treasuryWith(100n, { ownAddresses: [vault] })
  for (const to of [zeroAddress, network.usdc, account.address, vault.toLowerCase(), '0x12', 'somebody'])
    expect(await sender.rejectionReason(orderOf(1n, to)), to).toEqual(expect.any(String))
  await expect(sender.sign(orderOf(1n, vault), 0n, [])).rejects.toThrow(
    'a payout does not go to an own address',
  )
})

test('a reverted payout is `failed` only after its block is final', async () => {
  const { sender } = await treasuryWith()
  const order = orderOf(4n)
  const signed = await signAndKeep(sender, order, 0n)
  await network.deny(order.to as Hex, true)
  await sender.send(signed)
  // The node mines it after it has responded.
  await expect.poll(() => sender.observe([signed]), { timeout: 60_000 }).toMatchObject({ kind: 'seen' })
  await network.mine(FINALITY)
  expect(await sender.observe([signed])).toMatchObject({ kind: 'failed', reason: 'the transfer reverted' })
})

test('reports a nonce used by another transaction only after a final block used it', async () => {
  const { sender, account } = await treasuryWith()
  const signed = await signAndKeep(sender, orderOf(4n), 0n)
  await network.transfer(account, newAccount().address, 1n)
  await sender.send(signed)
  expect(await sender.observe([signed])).toEqual({ kind: 'unknown' })
  await network.mine(FINALITY)
  expect(await sender.observe([signed])).toEqual({
    kind: 'failed',
    reference: signed.reference,
    reason: 'nonce used by another transaction',
  })
})

test('an outcome does not depend on the order or number of signatures', async () => {
  const { sender } = await treasuryWith()
  const order = orderOf(4n)
  const signed: SignedTransfer[] = []
  for (let round = 0; round < 25; round++) signed.push(await signAndKeep(sender, order, 0n, signed.slice(-1)))
  const [first] = signed
  if (first === undefined) throw new Error('nothing was signed')
  await sender.send(first)
  await network.mine(FINALITY)
  const final = { kind: 'final', reference: first.reference, cost: expect.any(BigInt) }
  expect(await sender.observe(signed)).toEqual(final)
  expect(await sender.observe(signed.toReversed())).toEqual(final)
  expect(await sender.observe([])).toEqual({ kind: 'unknown' })
})

test('payouts at consecutive nonces are all executed in any sending order', async () => {
  const { sender } = await treasuryWith()
  await network.automine(false)
  const payouts = Array.from({ length: 12 }, (_, index) => ({
    nonce: BigInt(index),
    order: orderOf(1n + BigInt(index)),
  }))
  const signed = await Promise.all(payouts.map(({ order, nonce }) => signAndKeep(sender, order, nonce)))
  for (const one of signed.toReversed()) await sender.send(one)
  await network.mine(FINALITY + 1)
  for (const [index, { order }] of payouts.entries()) {
    expect(await sender.observe(signed.slice(index, index + 1))).toMatchObject({ kind: 'final' })
    expect(await network.balanceOf(order.to as Hex)).toBe(order.amount)
  }
})

test('a payout is not an incoming payment', async () => {
  const { sender, settings } = await treasuryWith()
  const signed = await signAndKeep(sender, orderOf(4n), 0n)
  await sender.send(signed)
  await network.mine(FINALITY)
  const observation = await evmChain(settings).findTransfer(question(signed.reference))
  expect(verdict(observation)).toBe('rejected: no_transfer')
})

test('returns the estimated cost and the balance in the native coin', async () => {
  const { sender } = await treasuryWith()
  const { native, createsAccount } = await sender.estimateCost(orderOf(4n))
  expect(createsAccount).toBe(false)
  expect(native).toBeGreaterThan(100_000n)
  expect(await sender.nativeBalance()).toBe(10n ** 18n)
})

test('rejects a signer of another account and a signature by another key', async () => {
  const { settings, account } = await treasuryWith()
  const otherSigner = localEvmSigner(newAccount().key)
  expect(() => evmPayoutSender(settings, otherSigner)).toThrow('is not the treasury')
  const wrongSigner = evmPayoutSender(settings, { ...otherSigner, address: account.address })
  await expect(wrongSigner.sign(orderOf(1n), 0n, [])).rejects.toThrow(
    'the signature is from the signer’s key',
  )
})
