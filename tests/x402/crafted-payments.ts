import type { EvmNetwork } from '@market/testing/evm-network'
import { authorizationCall, USDC_ABI } from '@market/testing/evm-usdc'
import {
  address,
  appendTransactionMessageInstructions,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  partiallySignTransactionMessageWithSigners,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import { concat, encodeFunctionData, type Hex, type PrivateKeyAccount, parseSignature, toHex } from 'viem'
import type { SolanaWorld } from '../chains/solana-support.ts'
import type { Reply } from '../support/client.ts'
import { until } from '../support/until.ts'
import type { PurchaseWorld } from './purchase-world.ts'
import type { EvmPayload } from './stock-evm-buyer.ts'

/** The decoded payment header of a client. */
export interface Payment {
  readonly x402Version: number
  readonly accepted: Readonly<Record<string, unknown>>
  readonly resource?: Readonly<Record<string, unknown>>
  readonly payload: EvmPayload & { readonly transaction: string }
}

export const opened = (header: string): Payment =>
  JSON.parse(Buffer.from(header, 'base64').toString('utf8')) as Payment

export const encodePayment = (payment: unknown): string =>
  Buffer.from(JSON.stringify(payment)).toString('base64')

export const proofIn = (header: string): string => {
  const { from, nonce } = opened(header).payload.authorization
  return `${from}:${nonce}`.toLowerCase()
}

/** A transaction of any instructions, signed by the signers whose keys are available. */
export async function solanaPayload(
  { rpc }: SolanaWorld,
  feePayer: string,
  instructions: readonly Instruction[],
) {
  const { value } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (one) => setTransactionMessageFeePayer(address(feePayer), one),
    (one) => setTransactionMessageLifetimeUsingBlockhash(value, one),
    (one) => appendTransactionMessageInstructions(instructions, one),
  )
  const signed = await partiallySignTransactionMessageWithSigners(message)
  return { transaction: getBase64EncodedWireTransaction(signed) }
}

/** Runs `work` after a payment was broadcast and before it is mined. */
export async function inFlight(
  { market }: Pick<PurchaseWorld, 'market'>,
  chain: EvmNetwork,
  header: string,
  hire: () => Promise<Reply>,
  meanwhile: () => Promise<unknown>,
): Promise<Reply> {
  await chain.automine(false)
  const answer = hire()
  try {
    await until('the payment is sent', async () => {
      const rows = await market.db
        .selectFrom('purchases')
        .select('state')
        .where('proof', '=', proofIn(header))
        .execute()
      return rows[0]?.state === 'sent'
    })
    await meanwhile()
  } finally {
    await chain.mine(1)
    await chain.automine(true)
  }
  return answer
}

/** The call by which a wallet takes back an authorization; anyone can submit it. */
export async function cancelCall(
  { chainId, usdc }: Pick<EvmNetwork, 'chainId' | 'usdc'>,
  wallet: PrivateKeyAccount,
  nonce: Hex,
): Promise<Hex> {
  const taken = await wallet.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId, verifyingContract: usdc },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: wallet.address, nonce },
  })
  const { r, s, yParity } = parseSignature(taken)
  return encodeFunctionData({
    abi: USDC_ABI,
    functionName: 'cancelAuthorization',
    args: [wallet.address, nonce, 27 + yParity, r, s],
  })
}

/** Broadcasts another account's authorization with a higher gas price. */
export async function frontRun(chain: EvmNetwork, attacker: PrivateKeyAccount, header: string): Promise<Hex> {
  const { authorization: a, signature } = opened(header).payload
  const data = authorizationCall(
    {
      from: a.from,
      to: a.to,
      value: BigInt(a.value),
      validAfter: BigInt(a.validAfter),
      validBefore: BigInt(a.validBefore),
      nonce: a.nonce,
    },
    signature,
  )
  await chain.fund(attacker.address)
  const fees = { maxFeePerGas: 900_000_000_000n, maxPriorityFeePerGas: 500_000_000_000n }
  const bytes = await attacker.signTransaction({
    ...{ type: 'eip1559', chainId: chain.chainId, nonce: 0, to: chain.usdc, data, gas: 300_000n },
    ...fees,
  })
  return (await chain.rpc('eth_sendRawTransaction', [bytes])) as Hex
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'

const log = (topic: Hex, size: Hex): Hex => concat(['0x7f', topic, '0x60', size, '0x6000', '0xa3'])
/** A Transfer event of one micro USDC less than the price, with the positions of amount, payer and payee. */
const shortTransfer = (value: Hex, to: Hex, from: Hex): Hex =>
  concat(['0x6001', value, '0x03600052', to, from, log(TRANSFER, '0x20'), '0x00'])

/** Bytecode of fake tokens that change no balance. */
const TOKENS = {
  'takes a fee of what was signed': concat([
    ...(['0x60a435', '0x600435', log(AUTHORIZATION_USED, '0x00')] as const),
    shortTransfer('0x604435', '0x602435', '0x600435'),
  ]),
  'takes a fee of what is sent': shortTransfer('0x602435', '0x600435', '0x33'),
  /** Returns zero from every call. */
  'does nothing': '0x60206000f3',
} as const satisfies Record<string, Hex>

/** Replaces the token's code during `work`. */
export async function withToken<T>(
  chain: EvmNetwork,
  kind: keyof typeof TOKENS,
  work: () => Promise<T>,
): Promise<T> {
  const code = await chain.rpc('eth_getCode', [chain.usdc, 'latest'])
  await chain.rpc('anvil_setCode', [chain.usdc, TOKENS[kind]])
  try {
    return await work()
  } finally {
    await chain.rpc('anvil_setCode', [chain.usdc, code])
  }
}

/** Changes the token's name, which is part of the signed data, during `work`. */
export async function withName<T>(chain: EvmNetwork, name: string, work: () => Promise<T>): Promise<T> {
  const slot = toHex(3, { size: 32 })
  const before = await chain.rpc('eth_getStorageAt', [chain.usdc, '0x3', 'latest'])
  const text = concat([
    toHex(name),
    `0x${'00'.repeat(31 - name.length)}`,
    toHex(name.length * 2, { size: 1 }),
  ])
  await chain.rpc('anvil_setStorageAt', [chain.usdc, slot, text])
  try {
    return await work()
  } finally {
    await chain.rpc('anvil_setStorageAt', [chain.usdc, slot, before])
  }
}
