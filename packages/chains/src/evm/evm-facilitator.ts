import { type Facilitator, outOfGas } from '@market/core/ports/facilitator'
import type { EvmTreasurySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import type { Node } from '../nodes/node-pool.ts'
import { type Authorization, readAuthorization } from './authorization.ts'
import { authorizationCall, MOST_GAS } from './authorization-call.ts'
import { blockAt, evmNodes, readFinalBlock } from './evm-nodes.ts'
import { isEnough, nextFees, raised, readFees } from './fees.ts'
import { observeSettlement } from './observe-settlement.ts'
import { quantity } from './read-answer.ts'
import { readCall } from './read-call.ts'
import { readDomain } from './read-domain.ts'
import { readNonces } from './read-nonces.ts'
import { rejectOnChain, rejectTerms } from './reject-authorization.ts'
import { callAll, callEach } from './rpc.ts'
import { sendBytes } from './send-bytes.ts'
import { addressKey, type EvmSettings, parseAddress } from './settings.ts'
import { signCall } from './sign-call.ts'

export interface EvmFacilitatorSettings extends EvmSettings {
  /** Pays for gas and for nothing else; the treasury's own nonces are for payouts. */
  readonly gasAccount: string
  /** The most a settlement may offer per gas, in wei. */
  readonly feeCapPerGas: bigint
  readonly now?: () => Date
}

/** How version 1 of x402 calls the chains that it knows. */
const V1_NAMES: Readonly<Record<number, string>> = {
  1: 'ethereum',
  137: 'polygon',
  143: 'monad',
  1329: 'sei',
  8453: 'base',
  42220: 'celo',
  43114: 'avalanche',
  84532: 'base-sepolia',
}

const UNREADABLE = 'invalid_payload'

const checkGasAccount = ({ network, gasAccount, treasury }: EvmFacilitatorSettings, key?: string): void => {
  if (parseAddress(gasAccount) === undefined)
    throw new Error(`${network}: the gas account ${gasAccount} is not an EVM address`)
  if (addressKey(gasAccount) === addressKey(treasury))
    throw new Error(`${network}: the gas account is the treasury, whose nonces are for payouts`)
  if (key !== undefined && addressKey(key) !== addressKey(gasAccount))
    throw new Error(`${network}: the signer's address ${key} is not the gas account ${gasAccount}`)
}

/**
 * Brings EIP-3009 authorizations to Base or to the third network (scheme "exact" of x402). Without the signer of the gas
 * account it does all but sign. Fails where the token does not know the domain that it names: nobody could pay by it.
 */
export const openEvmFacilitator = async (
  settings: EvmFacilitatorSettings,
  signer?: EvmTreasurySigner,
): Promise<Facilitator> => {
  const { network, chainId, usdc, treasury, gasAccount, feeCapPerGas, finalityTag } = settings
  const { now = () => new Date() } = settings
  checkGasAccount(settings, signer?.address)
  const nodes = evmNodes(settings)
  const { domain, isRight } = await nodes.ask((node) => readDomain(settings, node))
  const { name, version } = domain
  if (!isRight)
    throw new Error(`${network}: the EIP-712 domain of ${usdc} is not "${name}", version "${version}"`)

  const signed = (payment: Readonly<Record<string, unknown>>): Authorization => {
    const authorization = readAuthorization(payment)
    assert(authorization !== undefined, 'only what can be read is settled')
    return authorization
  }

  const gasBalanceAt = async (node: Node): Promise<bigint> => {
    const [balance] = await callAll(node, chainId, [['eth_getBalance', gasAccount, 'latest']])
    return quantity(balance)
  }

  return {
    network,
    caip2: `eip155:${chainId}`,
    v1: V1_NAMES[chainId],
    extra: { name, version },
    gasAccount: addressKey(gasAccount),

    parsePayment(payment) {
      const authorization = readAuthorization(payment)
      if (authorization === undefined) return undefined
      const payer = addressKey(authorization.from)
      return { kind: 'authorization', proof: `${payer}:${authorization.nonce}`, payer }
    },

    async rejectionReason(payment, amount) {
      const authorization = readAuthorization(payment)
      if (authorization === undefined) return UNREADABLE
      return (
        rejectTerms(settings, authorization, amount, now()) ??
        nodes.ask((node) => rejectOnChain(settings, node, domain, gasAccount, authorization))
      )
    },

    minedNonce: async () => (await readNonces(nodes, chainId, gasAccount)).next,

    async readTerms() {
      const { pending } = await readNonces(nodes, chainId, gasAccount)
      return nodes.ask(async (node) => {
        const [final] = await callEach(node, chainId, [blockAt(finalityTag)])
        const finalHeight = readFinalBlock(final)?.height ?? 0n
        const [fees, gasBalance] = [await readFees(node, chainId), await gasBalanceAt(node)]
        return { nextNonce: pending, finalHeight, lastValidHeight: null, fees, gasBalance }
      })
    },

    async sign(payment, { fees, finalHeight, gasBalance }, nonce) {
      assert(signer !== undefined, 'settlements are signed where the gas key is')
      assert(nonce !== null && fees !== null, 'an EVM settlement has its nonce before it is signed')
      const authorization = signed(payment)
      assert(addressKey(authorization.to) === addressKey(treasury), 'a settlement pays the treasury')
      const { data, gas } = await authorizationCall(domain, authorization)
      const offer = nextFees(fees, [], feeCapPerGas)
      if (gasBalance !== null && gasBalance < gas * offer.maxFeePerGas) throw outOfGas(network)
      const call = { chainId, to: usdc, data, gas, nonce, fees: offer }
      const { reference, bytes } = await signCall(signer, call)
      return { reference, bytes, nonce, signedAtHeight: finalHeight, lastValidHeight: null }
    },

    async replaceWithHigherFee(bytes, { fees, gasBalance }) {
      const { fees: offered, from, ...call } = await readCall(bytes)
      assert(fees !== null && addressKey(call.to) === addressKey(usdc), 'a settlement calls the token')
      // What an account signed that paid the gas before this one is not this one's to pay for.
      if (addressKey(from) !== addressKey(gasAccount)) return undefined
      if (isEnough(offered, fees) || raised(offered.maxFeePerGas) > feeCapPerGas) return undefined
      const next = nextFees(fees, [offered], feeCapPerGas)
      // More than there is would be taken by no node, and the bytes that can be paid for would be forgotten.
      if (gasBalance !== null && gasBalance < call.gas * next.maxFeePerGas) throw outOfGas(network)
      assert(signer !== undefined, 'settlements are signed where the gas key is')
      return (await signCall(signer, { ...call, fees: next })).bytes
    },

    send: ({ bytes }) => sendBytes(nodes, chainId, bytes),
    observe: (settlement, payment) => observeSettlement(settings, nodes, settlement, signed(payment)),

    readGas: () =>
      nodes.ask(async (node) => {
        const { maxFeePerGas } = await readFees(node, chainId)
        return { balance: await gasBalanceAt(node), maxCostPerSettlement: maxFeePerGas * MOST_GAS }
      }),
  }
}
