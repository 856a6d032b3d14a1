import { evmChain } from '@market/chains/evm/evm-chain'
import { openEvmFacilitator } from '@market/chains/evm/evm-facilitator'
import { localEvmSigner } from '@market/chains/local-signers'
import type { SignedPayment } from '@market/core/ports/facilitator'
import { usdc } from '@market/kernel/money'
import { startEvmNetwork } from '@market/testing/evm-network'
import { USDC_ABI } from '@market/testing/evm-usdc'
import { smartWallet } from '@market/testing/smart-wallet'
import {
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  parseSignature,
  parseTransaction,
  toHex,
} from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { FINALITY, fundedPayer, newAccount, question, verdict } from '../chains/evm-world.ts'
import { relayTo } from '../chains/node-relay.ts'
import { PRICE, settle, startEvmFacilitator } from './evm-facilitator-world.ts'
import { signNow } from './sign-now.ts'
import { type EvmPayload, stockEvmPayload } from './stock-evm-buyer.ts'

const network = await startEvmNetwork({ chainId: 8453 })
afterAll(() => network.stop())
beforeEach(async () => {
  await network.automine(true)
  await network.mine(1)
})

const world = await startEvmFacilitator(network)
const { facilitator, treasury, gas, buyer } = world
const UNKNOWN = { kind: 'unknown' }
const arrived = (reference: string) => ({ kind: 'arrived', reference })

const changed = (payment: EvmPayload, fields: Partial<EvmPayload['authorization']>): EvmPayload => ({
  ...payment,
  authorization: { ...payment.authorization, ...fields },
})

const callOf = ({ authorization: a, signature }: EvmPayload): Hex => {
  const { r, s, yParity } = parseSignature(signature)
  const signed = [
    a.from,
    a.to,
    BigInt(a.value),
    BigInt(a.validAfter),
    BigInt(a.validBefore),
    a.nonce,
  ] as const
  const functionName = 'transferWithAuthorization'
  return encodeFunctionData({ abi: USDC_ABI, functionName, args: [...signed, 27 + yParity, r, s] })
}

/** Settles with automatic mining and waits for the block. */
const settleInBlock = async (...args: Parameters<typeof settle>) => {
  const settlement = await settle(...args)
  await network.included(settlement.reference as Hex)
  return settlement
}

test('an unmodified client pays, the signed transaction is broadcast repeatedly, and the treasury is paid once', async () => {
  const payment = await world.pay()
  expect(facilitator.parsePayment(payment)).toEqual({
    kind: 'authorization',
    proof: `${buyer.address}:${payment.authorization.nonce}`.toLowerCase(),
    payer: buyer.address.toLowerCase(),
  })
  const before = await network.balanceOf(treasury.address)
  const settlement = await settleInBlock(facilitator, payment)
  for (let again = 0; again < 5; again += 1) await facilitator.send(settlement)
  expect(await facilitator.observe(settlement, payment)).toEqual(arrived(settlement.reference))
  expect((await network.balanceOf(treasury.address)) - before).toBe(PRICE)
  expect(await facilitator.rejectionReason(payment, PRICE)).toBe('invalid_exact_evm_nonce_already_used')

  const { gas: limit, to, value = 0n } = parseTransaction(settlement.bytes as Hex)
  expect({ limit, to, value }).toEqual({ limit: 150_000n, to: network.usdc.toLowerCase(), value: 0n })
  const receipt = (await network.rpc('eth_getTransactionReceipt', [settlement.reference])) as { gasUsed: Hex }
  expect(BigInt(receipt.gasUsed)).toBeLessThan(100_000n)
})

test('extra: has the fields that a requirement needs besides asset, address and amount', () => {
  expect(facilitator).toMatchObject({
    network: 'base-mainnet',
    caip2: 'eip155:8453',
    v1: 'base',
    gasAccount: gas.address.toLowerCase(),
    extra: { name: 'USD Coin', version: '2' },
  })
})

test('the terms count mined transactions only, and readGas returns the balance', async () => {
  const mined = async () => (await facilitator.readTerms()).minedNonce ?? 0n
  const before = await mined()
  await network.automine(false)
  await settle(facilitator, await world.pay())
  expect(await mined()).toBe(before)
  await network.mine(1)
  expect(await mined()).toBe(before + 1n)
  expect((await facilitator.readGas()).balance).toBe(
    BigInt(String(await network.rpc('eth_getBalance', [gas.address, 'latest']))),
  )
})

const now = () => Math.floor(Date.now() / 1_000)
const MUTATIONS: readonly (readonly [string, Partial<EvmPayload['authorization']>, string])[] = [
  ['another payee', { to: newAccount().address }, 'invalid_exact_evm_recipient_mismatch'],
  ['less', { value: '549999' }, 'invalid_exact_evm_payload_authorization_value_mismatch'],
  ['more', { value: '550001' }, 'invalid_exact_evm_payload_authorization_value_mismatch'],
  ['expired', { validBefore: '1' }, 'invalid_exact_evm_payload_authorization_valid_before'],
  [
    'five seconds left',
    { validBefore: String(now() + 5) },
    'invalid_exact_evm_payload_authorization_valid_before',
  ],
  ['for ever', { validBefore: `${2n ** 256n - 1n}` }, 'invalid_exact_evm_payload_authorization_valid_before'],
  [
    'not yet valid',
    { validAfter: String(now() + 200) },
    'invalid_exact_evm_payload_authorization_valid_after',
  ],
  ['a window nobody signed', { validAfter: '1' }, 'invalid_exact_evm_signature'],
  ['another nonce', { nonce: toHex(7, { size: 32 }) }, 'invalid_exact_evm_signature'],
  ['another payer', { from: newAccount().address }, 'invalid_exact_evm_signature'],
]
test.each(MUTATIONS)('rejects with a specific code: %s', async (_name, fields, code) => {
  expect(await facilitator.rejectionReason(changed(await world.pay(), fields), PRICE)).toBe(code)
})

test('rejects an amount other than the price', async () => {
  const code = 'invalid_exact_evm_payload_authorization_value_mismatch'
  expect(await facilitator.rejectionReason(await world.pay(), usdc(550_001n))).toBe(code)
})

test('rejects signatures that are broken, malleable or made for another token', async () => {
  const payment = await world.pay()
  const code = 'invalid_exact_evm_signature'
  const broken = { ...payment, signature: `${payment.signature.slice(0, -4)}001b` }
  const { r, s, yParity } = parseSignature(payment.signature)
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const mirrored = concat([r, toHex(order - BigInt(s), { size: 32 }), toHex(yParity === 0 ? 28 : 27)])
  const { quote } = world
  const named = { ...quote, extra: { name: 'USDC', version: '2' } }
  const elsewhere = { ...facilitator, caip2: 'eip155:137' }
  const there = { ...quote, asset: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359' }
  for (const wrong of [
    broken,
    { ...payment, signature: mirrored },
    { ...payment, signature: '0x00' },
    await stockEvmPayload(buyer, facilitator, named),
    await stockEvmPayload(buyer, elsewhere, there),
  ])
    expect(await facilitator.rejectionReason(wrong, PRICE)).toBe(code)
})

test('rejects payers with too little balance or blocked by the token', async () => {
  const poor = newAccount()
  await network.mint(poor.address, PRICE - 1n)
  const payment = await world.pay(poor)
  expect(await facilitator.rejectionReason(payment, PRICE)).toBe('invalid_exact_evm_insufficient_balance')
  await network.mint(poor.address, 1n)
  expect(await facilitator.rejectionReason(payment, PRICE)).toBeUndefined()
  await network.deny(poor.address, true)
  expect(await facilitator.rejectionReason(payment, PRICE)).toBe(
    'invalid_exact_evm_transaction_simulation_failed',
  )
})

test('parsePayment: returns undefined for a payload that is not an authorization', async () => {
  const payment = await world.pay()
  const wrong: readonly SignedPayment[] = [
    {},
    { transaction: 'AQAB' },
    { ...payment, signature: undefined },
    { ...payment, signature: '0x' },
    { ...payment, signature: '0xabc' },
    { ...payment, signature: `0x${'ab'.repeat(4_097)}` },
    { ...payment, signature: `0xff${'6492'.repeat(16)}` },
    { ...payment, authorization: null },
    { ...payment, authorization: [] },
    changed(payment, { from: '0x12' }),
    changed(payment, { nonce: '0x12' }),
    changed(payment, { value: '0550000' }),
    changed(payment, { value: '-1' }),
    changed(payment, { value: '5.5' }),
    changed(payment, { value: `${2n ** 256n}` }),
    changed(payment, { validBefore: '1e9' }),
    changed(payment, { value: 550_000 as unknown as string }),
  ]
  for (const one of wrong) {
    expect(facilitator.parsePayment(one)).toBeUndefined()
    expect(await facilitator.rejectionReason(one, PRICE)).toBe('invalid_payload')
  }
  const loud = {
    ...payment.authorization,
    from: payment.authorization.from.toUpperCase().replace('0X', '0x'),
  }
  expect(facilitator.parsePayment({ ...payment, authorization: loud })).toEqual(
    facilitator.parsePayment(payment),
  )
})

test('an authorization that another account broadcast first counts as paid by that transaction', async () => {
  const payment = await world.pay()
  const settlement = await signNow(facilitator, payment)
  const otherAccount = newAccount()
  await network.fund(otherAccount.address)
  const theirs = await network.call(otherAccount, network.usdc, callOf(payment))
  await facilitator.send(settlement)
  await network.included(settlement.reference as Hex)
  expect(await facilitator.observe(settlement, payment)).toEqual(arrived(theirs))

  const chain = evmChain(world.settings)
  await network.mine(FINALITY)
  expect(verdict(await chain.findTransfer(question(theirs)))).toBe('ok, final')
  const sentByPayer = true
  expect(verdict(await chain.findTransfer(question(theirs, { sentByPayer })))).toBe(
    'rejected: sent_by_another',
  )
})

test('finds a front-running transaction far behind the newest block in small pages', async () => {
  const small = await openEvmFacilitator({ ...world.settings, watchBlocks: 3 }, localEvmSigner(gas.key))
  const payment = await world.pay()
  const settlement = await signNow(small, payment)
  await network.mine(7)
  const otherAccount = newAccount()
  await network.fund(otherAccount.address)
  const theirs = await network.call(otherAccount, network.usdc, callOf(payment))
  await network.mine(20)
  expect(await small.observe(settlement, payment)).toEqual(arrived(theirs))
})

test('a nonce used for another payee is void once that transaction is final', async () => {
  const payment = await world.pay()
  const settlement = await signNow(facilitator, payment)
  const elsewhere = changed(payment, { to: newAccount().address })
  const { domain, types } = {
    domain: { ...facilitator.extra, chainId: 8453, verifyingContract: network.usdc },
    types: TYPES,
  }
  const { authorization: a } = elsewhere
  const message = {
    ...a,
    value: BigInt(a.value),
    validAfter: BigInt(a.validAfter),
    validBefore: BigInt(a.validBefore),
  }
  const signature = await buyer.signTypedData({
    domain,
    types,
    primaryType: 'TransferWithAuthorization',
    message,
  })
  const otherAccount = newAccount()
  await network.fund(otherAccount.address)
  await network.call(otherAccount, network.usdc, callOf({ ...elsewhere, signature }))
  expect(await facilitator.observe(settlement, payment)).toEqual(UNKNOWN)
  await network.mine(FINALITY)
  expect(await facilitator.observe(settlement, payment)).toMatchObject({ kind: 'void' })
  await facilitator.send(settlement)
  await network.included(settlement.reference as Hex)
  expect(await facilitator.observe(settlement, payment)).toMatchObject({ kind: 'void' })
})

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

test('an authorization that its payer cancelled is void once the cancellation is final', async () => {
  const payment = await world.pay()
  const settlement = await signNow(facilitator, payment)
  const { from, nonce } = payment.authorization
  const domain = { ...facilitator.extra, chainId: 8453, verifyingContract: network.usdc }
  const types = {
    CancelAuthorization: [
      { name: 'authorizer', type: 'address' },
      { name: 'nonce', type: 'bytes32' },
    ],
  } as const
  const message = { authorizer: from, nonce }
  const taken = await buyer.signTypedData({ domain, types, primaryType: 'CancelAuthorization', message })
  const { r, s, yParity } = parseSignature(taken)
  const functionName = 'cancelAuthorization'
  const args = [from, nonce, 27 + yParity, r, s] as const
  await network.call(buyer, network.usdc, encodeFunctionData({ abi: USDC_ABI, functionName, args }))
  expect(await facilitator.observe(settlement, payment)).toEqual(UNKNOWN)
  await network.mine(FINALITY)
  expect(await facilitator.observe(settlement, payment)).toMatchObject({ kind: 'void' })
})

/** The payload of an unmodified client for a smart wallet: signed by the owner's key, paid by the wallet. */
const walletBuyer = async () => {
  const owner = newAccount()
  const wallet = await smartWallet(network.url, { address: owner.address, sign: async () => '0x' })
  await network.mint(wallet.address, 10_000_000n)
  const signTypedData = owner.signTypedData
  return { wallet, buyer: { address: wallet.address, signTypedData } }
}

test('a smart wallet pays with a signature that its contract accepts', async () => {
  const { wallet, buyer: owner } = await walletBuyer()
  const payment = await world.pay(owner)
  expect(await facilitator.rejectionReason(payment, PRICE)).toBe('invalid_exact_evm_signature')
  await wallet.deploy()
  expect(facilitator.parsePayment(payment)?.payer).toBe(wallet.address.toLowerCase())
  const settlement = await settleInBlock(facilitator, payment)
  expect(await facilitator.observe(settlement, payment)).toEqual(arrived(settlement.reference))
  const otherAccount = await world.pay({ address: wallet.address, signTypedData: newAccount().signTypedData })
  expect(await facilitator.rejectionReason(otherAccount, PRICE)).toBe('invalid_exact_evm_signature')
})

test('rejects a smart wallet that is not deployed without calling its factory', async () => {
  const { wallet, buyer: owner } = await walletBuyer()
  const payment = await world.pay(owner)
  const parts = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }] as const
  const wrapped = encodeAbiParameters(parts, [newAccount().address, '0x1234', payment.signature])
  const counterfactual = { ...payment, signature: concat([wrapped, `0x${'6492'.repeat(16)}`]) }
  const code = 'invalid_exact_evm_payload_undeployed_smart_wallet'
  expect(await facilitator.rejectionReason(counterfactual, PRICE)).toBe(code)
  await wallet.deploy()
  const settlement = await settleInBlock(facilitator, counterfactual)
  expect(await facilitator.observe(settlement, counterfactual)).toEqual(arrived(settlement.reference))
})

test('the outcome is unknown while no block is mined and after a reorganization removed the payment', async () => {
  await network.automine(false)
  const payment = await world.pay()
  const settlement = await settle(facilitator, payment)
  expect(await facilitator.observe(settlement, payment)).toEqual(UNKNOWN)
  await network.mine(1)
  expect(await facilitator.observe(settlement, payment)).toEqual(arrived(settlement.reference))
  await network.reorg(1)
  expect(await facilitator.observe(settlement, payment)).toEqual(UNKNOWN)
  await facilitator.send(settlement)
  await network.mine(1)
  expect(await facilitator.observe(settlement, payment)).toEqual(arrived(settlement.reference))
})

test('a settlement is lost when another transaction used its nonce, and not when it failed on the chain', async () => {
  const terms = await facilitator.readTerms()
  const payer = await fundedPayer(network, PRICE)
  const payment = await world.pay(payer)
  const lost = await facilitator.sign(payment, terms, terms.minedNonce)
  expect(await facilitator.observe(lost, payment)).toEqual(UNKNOWN)
  await settleInBlock(facilitator, await world.pay())
  expect(await facilitator.observe(lost, payment)).toEqual({ ...UNKNOWN, isLost: true })

  await network.automine(false)
  const again = await settle(facilitator, payment)
  await network.rpc('anvil_dropTransaction', [again.reference])
  await network.automine(true)
  await network.transfer(payer, gas.address, PRICE)
  await facilitator.send(again)
  await network.included(again.reference as Hex)
  expect(await facilitator.observe(again, payment)).toEqual(UNKNOWN)
})

test('ignores a receipt of a block that is no longer canonical', async () => {
  const relay = await relayTo(network.url)
  const stale = await openEvmFacilitator({ ...world.settings, rpcUrls: [relay.url] })
  const payment = await world.pay()
  const settlement = await settleInBlock(facilitator, payment)
  const receipt = await network.rpc('eth_getTransactionReceipt', [settlement.reference])
  expect(await stale.observe(settlement, payment)).toEqual(arrived(settlement.reference))
  await network.reorg(1)
  relay.mood = {
    kind: 'change',
    result: ({ method }, result) => (method === 'eth_getTransactionReceipt' ? receipt : result),
  }
  expect(await stale.observe(settlement, payment)).toEqual(UNKNOWN)
  await relay.stop()
})

test('the settled transfer names the buyer as payer', async () => {
  const payment = await world.pay()
  const { reference } = await settleInBlock(facilitator, payment)
  await network.mine(FINALITY)
  const observation = await evmChain(world.settings).findTransfer(
    question(reference, { payers: [buyer.address] }),
  )
  expect(observation).toMatchObject({
    kind: 'ok',
    transfer: { amount: PRICE, payer: buyer.address.toLowerCase(), attachedData: null },
  })
})

test('signs only up to the gas cap, and nothing without the gas key', async () => {
  const payment = await world.pay()
  const thrifty = await openEvmFacilitator({ ...world.settings, feeCapPerGas: 1n }, localEvmSigner(gas.key))
  await expect(signNow(thrifty, payment)).rejects.toMatchObject({ kind: 'unavailable' })
  const keyless = await openEvmFacilitator(world.settings)
  expect(await keyless.rejectionReason(payment, PRICE)).toBeUndefined()
  await expect(signNow(keyless, payment)).rejects.toThrow('only a process with the gas key')
  const settlement = await signNow(facilitator, payment)
  await keyless.send(settlement)
  await network.included(settlement.reference as Hex)
  expect(await keyless.observe(settlement, payment)).toEqual(arrived(settlement.reference))
})

test('starts only with a separate gas account, its matching key and a token with the expected name', async () => {
  const { settings } = world
  const own = { ...settings, gasAccount: treasury.address }
  await expect(openEvmFacilitator(own)).rejects.toThrow('the gas account must not be the treasury')
  const other = localEvmSigner(newAccount().key)
  await expect(openEvmFacilitator(settings, other)).rejects.toThrow('is not the gas account')
  await expect(openEvmFacilitator({ ...settings, gasAccount: 'gas' })).rejects.toThrow('not an EVM address')
  const name = await network.rpc('eth_getStorageAt', [network.usdc, '0x3', 'latest'])
  const renamed = concat([toHex('USDC'), `0x${'00'.repeat(27)}`, '0x08'])
  await network.rpc('anvil_setStorageAt', [network.usdc, toHex(3, { size: 32 }), renamed])
  await expect(openEvmFacilitator(settings)).rejects.toThrow('is not "USDC", version "2"')
  await network.rpc('anvil_setStorageAt', [network.usdc, toHex(3, { size: 32 }), name])
})

test('a settlement below the current base fee is replaced at the same nonce', async () => {
  const payment = await world.pay()
  await network.automine(false)
  const cheap = await settle(facilitator, payment)
  const before = parseTransaction(cheap.bytes as Hex)
  expect(await facilitator.replaceWithHigherFee(cheap.bytes, await facilitator.readTerms())).toBeUndefined()
  const dear = (before.maxFeePerGas ?? 0n) * 3n
  await network.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(dear)])
  await network.mine(1)
  expect(await facilitator.observe(cheap, payment)).toEqual(UNKNOWN)

  const terms = await facilitator.readTerms()
  const better = await facilitator.replaceWithHigherFee(cheap.bytes, terms)
  const after = parseTransaction(better?.bytes as Hex)
  expect(after).toMatchObject({ nonce: before.nonce, to: before.to, data: before.data, gas: before.gas })
  expect(after.maxFeePerGas).toBeGreaterThan(dear)
  expect(await facilitator.replaceWithHigherFee(better?.bytes ?? '', terms)).toBeUndefined()
  const thrifty = { ...world.settings, feeCapPerGas: (before.maxFeePerGas ?? 0n) + 1n }
  const capped = await openEvmFacilitator(thrifty, localEvmSigner(gas.key))
  expect(await capped.replaceWithHigherFee(cheap.bytes, terms)).toBeUndefined()

  await expect(
    facilitator.replaceWithHigherFee(cheap.bytes, { ...terms, gasBalance: dear }),
  ).rejects.toMatchObject({
    kind: 'unavailable',
  })

  await facilitator.send({ bytes: better?.bytes ?? '' })
  await network.mine(1)
  expect(await facilitator.observe(cheap, payment)).toMatchObject({ kind: 'arrived' })
  await network.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(1_000_000_000n)])
  await network.mine(1)
})

test('returns 503 network_unavailable and signs nothing when the gas account is empty', async () => {
  const poor = await startEvmFacilitator(network)
  const payment = await poor.pay()
  await network.rpc('anvil_setBalance', [poor.gas.address, '0x1'])
  expect(await poor.facilitator.readGas()).toMatchObject({ balance: 1n })
  await expect(signNow(poor.facilitator, payment)).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('Pay on another network'),
  })
})

// The chain's clock never goes back, so tests that advance it are last.
test('an expired authorization is void only after a finalized block and agreement of two nodes', async () => {
  const [first, second] = [await relayTo(network.url), await relayTo(network.url)]
  const both = await openEvmFacilitator(
    { ...world.settings, rpcUrls: [first.url, second.url] },
    localEvmSigner(gas.key),
  )
  const payment = await world.pay()
  const settlement = await signNow(both, payment)
  await network.rpc('evm_increaseTime', [301])
  await network.mine(1)
  expect(await both.observe(settlement, payment)).toEqual(UNKNOWN)
  await network.mine(FINALITY)
  const expired = { kind: 'void', reason: 'the authorization expired' }

  const frozen = await network.rpc('eth_getBlockByNumber', ['0x1', false])
  first.mood = {
    kind: 'change',
    result: ({ method, params }, result) =>
      method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? frozen : result,
  }
  expect(await both.observe(settlement, payment)).toEqual(UNKNOWN)
  first.mood = { kind: 'reset' }
  expect(await both.observe(settlement, payment)).toEqual(UNKNOWN)
  first.mood = { kind: 'pass' }
  expect(await both.observe(settlement, payment)).toEqual(expired)
  expect(await facilitator.observe(settlement, payment)).toEqual(expired)

  await both.send(settlement)
  expect(await both.observe(settlement, payment)).toEqual(expired)
  await first.stop()
  await second.stop()
})
