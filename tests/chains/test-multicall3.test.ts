import { startAnvil } from '@market/testing/anvil'
import { startEvmNetwork } from '@market/testing/evm-network'
import { authorizationCall, authorizationOf, authorizationTypedData } from '@market/testing/evm-usdc'
import { MULTICALL3 } from '@market/testing/multicall3'
import { createPublicClient, encodeFunctionData, type Hex, http, multicall3Abi } from 'viem'
import { expect, test } from 'vitest'
import { newAccount } from './evm-world.ts'

test('Multicall3: every local node has it, also after a reorganization', async () => {
  const node = await startAnvil({ chainId: 1 })
  const network = await startEvmNetwork({ chainId: 8453 })
  try {
    const aggregated = (url: string) =>
      createPublicClient({ transport: http(url) }).readContract({
        address: MULTICALL3,
        abi: multicall3Abi,
        functionName: 'aggregate3',
        args: [[{ target: MULTICALL3, allowFailure: true, callData: '0xffffffff' }]],
      })
    expect(await aggregated(node.url)).toEqual([{ success: false, returnData: '0x' }])
    await network.mine(3)
    await network.reorg(3)
    expect(await aggregated(network.url)).toEqual([{ success: false, returnData: '0x' }])
  } finally {
    await Promise.all([node.stop(), network.stop()])
  }
})

test('Multicall3: one transaction executes several authorizations, and one that fails stops no other', async () => {
  const network = await startEvmNetwork({ chainId: 8453 })
  try {
    const [payer, gas, one, denied, two] = [1, 2, 3, 4, 5].map(newAccount)
    if (!(payer && gas && one && denied && two)) throw new Error('five accounts are needed')
    await network.fund(gas.address)
    await network.mint(payer.address, 100n)
    await network.deny(denied.address, true)
    const calls = await Promise.all(
      [one, denied, two].map(async ({ address }) => {
        const message = authorizationOf(payer.address, address, 10n, 2n ** 64n)
        const typed = authorizationTypedData(network.chainId, network.usdc, message)
        const callData = authorizationCall(message, await payer.signTypedData(typed))
        return { target: network.usdc, allowFailure: true, callData }
      }),
    )
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] })
    const hash = await network.call(gas, MULTICALL3, data, 600_000n)
    const receipt = (await network.rpc('eth_getTransactionReceipt', [hash])) as {
      status: Hex
      logs: unknown[]
    }
    expect(receipt.status).toBe('0x1')
    expect(receipt.logs).toHaveLength(4)
    const balances = [one, denied, two, payer].map(({ address }) => network.balanceOf(address))
    expect(await Promise.all(balances)).toEqual([10n, 0n, 10n, 80n])
    // The payer needs no coin and sends nothing.
    expect(await network.rpc('eth_getTransactionCount', [payer.address, 'latest'])).toBe('0x0')
  } finally {
    await network.stop()
  }
})
