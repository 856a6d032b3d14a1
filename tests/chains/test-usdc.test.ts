import { startEvmNetwork } from '@market/testing/evm-network'
import { evmSigner } from '@market/testing/evm-signer'
import { type Authorization, authorizationTypedData, USDC_ABI } from '@market/testing/evm-usdc'
import { smartWallet } from '@market/testing/smart-wallet'
import {
  type Address,
  encodeFunctionData,
  type Hex,
  type PrivateKeyAccount,
  parseEventLogs,
  parseSignature,
  type RpcLog,
  serializeSignature,
  toHex,
  zeroAddress,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount, sign } from 'viem/accounts'
import { hashTypedData } from 'viem/utils'
import { afterAll, expect, test } from 'vitest'
import { newAccount } from './evm-world.ts'

const network = await startEvmNetwork({ chainId: 8453 })
afterAll(() => network.stop())

const FAR = 2n ** 64n
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const funded = async (amount = 100n): Promise<PrivateKeyAccount> => {
  const account = newAccount()
  await network.fund(account.address)
  await network.mint(account.address, amount)
  return account
}

let nonces = 0
const terms = (from: Address, changes: Partial<Authorization> = {}): Authorization => {
  nonces += 1
  const nonce = toHex(nonces, { size: 32 })
  return { from, to: newAccount().address, value: 10n, validAfter: 0n, validBefore: FAR, nonce, ...changes }
}
const signed = (by: PrivateKeyAccount, message: Authorization): Promise<Hex> =>
  by.signTypedData(authorizationTypedData(network.chainId, network.usdc, message))

const argsOf = ({ from, to, value, validAfter, validBefore, nonce }: Authorization) =>
  [from, to, value, validAfter, validBefore, nonce] as const
const functionName = 'transferWithAuthorization'
/** Both forms of the call: with the signature in parts and whole. */
const callsOf = (message: Authorization, signature: Hex): readonly Hex[] => {
  const { r, s, yParity } = parseSignature(signature)
  return [
    encodeFunctionData({ abi: USDC_ABI, functionName, args: [...argsOf(message), 27 + yParity, r, s] }),
    encodeFunctionData({ abi: USDC_ABI, functionName, args: [...argsOf(message), signature] }),
  ]
}
const simulate = (data: Hex | undefined, from?: Address) =>
  network.rpc('eth_call', [{ to: network.usdc, data, ...(from !== undefined && { from }) }, 'latest'])
const rejected = async (message: Authorization, signature: Hex, reason: string) => {
  for (const data of callsOf(message, signature)) await expect(simulate(data)).rejects.toThrow(reason)
}
const execute = async (by: PrivateKeyAccount, data: Hex | undefined) => {
  const hash = await network.call(by, network.usdc, data ?? '0x')
  const { status, logs } = (await network.rpc('eth_getTransactionReceipt', [hash])) as {
    readonly status: string
    readonly logs: RpcLog[]
  }
  expect(status).toBe('0x1')
  return parseEventLogs({ abi: USDC_ABI, logs: logs as never }).map(({ eventName, args }) => ({
    ...{ eventName, args },
  }))
}
const isUsed = async ({ from, nonce }: Authorization) => {
  const data = encodeFunctionData({ abi: USDC_ABI, functionName: 'authorizationState', args: [from, nonce] })
  return BigInt(String(await simulate(data))) === 1n
}

test('test token: AuthorizationUsed is directly before Transfer, and the authorization cannot be used again', async () => {
  const [payer, stranger] = [await funded(), await funded()]
  for (const form of [0, 1]) {
    const message = terms(payer.address)
    const signature = await signed(payer, message)
    expect(await isUsed(message)).toBe(false)
    expect(await execute(stranger, callsOf(message, signature)[form])).toEqual([
      { eventName: 'AuthorizationUsed', args: { authorizer: payer.address, nonce: message.nonce } },
      { eventName: 'Transfer', args: { from: payer.address, to: message.to, value: 10n } },
    ])
    expect(await isUsed(message)).toBe(true)
    await rejected(message, signature, 'FiatTokenV2: authorization is used or canceled')
  }
})

test('test token: an authorization is valid strictly between its times, which are never block numbers', async () => {
  const payer = await funded()
  const { timestamp } = (await network.rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: Hex }
  // The simulation runs in a block with the time of the newest one or later.
  const now = BigInt(timestamp)
  const check = async (changes: Partial<Authorization>, reason: string) => {
    const message = terms(payer.address, changes)
    await rejected(message, await signed(payer, message), reason)
  }
  await check({ validAfter: FAR }, 'FiatTokenV2: authorization is not yet valid')
  await check({ validBefore: now }, 'FiatTokenV2: authorization is expired')
  const flag = 1n << 47n
  await check({ validAfter: flag, validBefore: flag | FAR }, 'FiatTokenV2: authorization is not yet valid')
})

test('test token: while it is paused, nothing is transferred, minted, approved or canceled', async () => {
  const payer = await funded()
  const message = terms(payer.address)
  const signature = await signed(payer, message)
  await network.pause(true)
  await rejected(message, signature, 'Pausable: paused')
  const calls = [
    encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args: [message.to, 1n] }),
    encodeFunctionData({ abi: USDC_ABI, functionName: 'mint', args: [message.to, 1n] }),
    encodeFunctionData({ abi: USDC_ABI, functionName: 'approve', args: [message.to, 1n] }),
    encodeFunctionData({
      abi: USDC_ABI,
      functionName: 'cancelAuthorization',
      args: [payer.address, message.nonce, 27, toHex(1, { size: 32 }), toHex(1, { size: 32 })],
    }),
  ]
  for (const data of calls) await expect(simulate(data, payer.address)).rejects.toThrow('Pausable: paused')
  await network.pause(false)
  await execute(payer, callsOf(message, signature)[1])
})

test('test token: a denied sender or receiver fails the transfer, and the authorization stays unused', async () => {
  const payer = await funded()
  const message = terms(payer.address)
  const signature = await signed(payer, message)
  const transfer = encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args: [message.to, 1n] })
  for (const denied of [payer.address, message.to]) {
    await network.deny(denied, true)
    await rejected(message, signature, 'Blacklistable: account is blacklisted')
    await expect(simulate(transfer, payer.address)).rejects.toThrow('Blacklistable: account is blacklisted')
    await network.deny(denied, false)
  }
  expect(await isUsed(message)).toBe(false)
  expect(await execute(payer, callsOf(message, signature)[1])).toHaveLength(2)
})

test('test token: the balance and the receiver are checked last', async () => {
  const payer = await funded(9n)
  const much = terms(payer.address)
  await rejected(much, await signed(payer, much), 'ERC20: transfer amount exceeds balance')
  const burning = terms(payer.address, { to: zeroAddress, value: 1n })
  await rejected(burning, await signed(payer, burning), 'ERC20: transfer to the zero address')
  const transfer = encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args: [much.to, 10n] })
  await expect(simulate(transfer, payer.address)).rejects.toThrow('ERC20: transfer amount exceeds balance')
})

test('test token: accepts only the signer, with a low s and a whole signature', async () => {
  const [payer, other] = [await funded(), newAccount()]
  const message = terms(payer.address)
  await rejected(message, await signed(other, message), 'FiatTokenV2: invalid signature')
  const signature = await signed(payer, message)
  await rejected({ ...message, value: 11n }, signature, 'FiatTokenV2: invalid signature')
  const { r, s, yParity } = parseSignature(signature)
  const high = serializeSignature({ r, s: toHex(N - BigInt(s), { size: 32 }), yParity: 1 - yParity })
  await rejected(message, high, "ECRecover: invalid signature 's' value")
  const whole = (bytes: Hex) =>
    simulate(encodeFunctionData({ abi: USDC_ABI, functionName, args: [...argsOf(message), bytes] }))
  await expect(whole(`${signature.slice(0, -2)}00` as Hex)).rejects.toThrow(
    "ECRecover: invalid signature 'v' value",
  )
  await expect(whole(`${signature}00`)).rejects.toThrow('ECRecover: invalid signature length')
})

test('test token: code at the signer decides alone, in both forms of the call', async () => {
  const key = generatePrivateKey()
  const owner = privateKeyToAccount(key)
  const wallet = await smartWallet(network.url, {
    ...evmSigner(),
    address: owner.address,
    sign: (message) => owner.signMessage({ message }),
  })
  await network.mint(wallet.address, 100n)
  const message = terms(wallet.address)
  const hash = hashTypedData(authorizationTypedData(network.chainId, network.usdc, message))
  const signature = await sign({ hash, privateKey: key, to: 'hex' })
  await rejected(message, signature, 'FiatTokenV2: invalid signature')
  await wallet.deploy()
  const stranger = newAccount()
  await network.fund(stranger.address)
  const second = terms(wallet.address)
  const signatures = [signature, await signed(owner, second)]
  for (const [form, one] of [message, second].entries())
    expect(await execute(stranger, callsOf(one, signatures[form] ?? '0x')[form])).toHaveLength(2)

  // The key of an account with code does not sign for it any more.
  const payer = await funded()
  const own = terms(payer.address)
  await network.rpc('anvil_setCode', [payer.address, '0x00'])
  await rejected(own, await signed(payer, own), 'FiatTokenV2: invalid signature')
})

test('test token: a canceled authorization cannot be used, and a used one cannot be canceled', async () => {
  const payer = await funded()
  const cancel = async ({ from, nonce }: Authorization) => {
    const { domain } = authorizationTypedData(network.chainId, network.usdc, terms(from))
    const types = {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    } as const
    const message = { authorizer: from, nonce }
    const signature = await payer.signTypedData({
      domain,
      types,
      primaryType: 'CancelAuthorization',
      message,
    })
    const { r, s, yParity } = parseSignature(signature)
    return encodeFunctionData({
      abi: USDC_ABI,
      functionName: 'cancelAuthorization',
      args: [from, nonce, 27 + yParity, r, s],
    })
  }
  const canceled = terms(payer.address)
  expect(await execute(payer, await cancel(canceled))).toEqual([
    { eventName: 'AuthorizationCanceled', args: { authorizer: payer.address, nonce: canceled.nonce } },
  ])
  expect(await isUsed(canceled)).toBe(true)
  await rejected(canceled, await signed(payer, canceled), 'FiatTokenV2: authorization is used or canceled')
  const used = terms(payer.address)
  await execute(payer, callsOf(used, await signed(payer, used))[0])
  await expect(simulate(await cancel(used))).rejects.toThrow('FiatTokenV2: authorization is used or canceled')
})
