import { operations as o } from '../operations.ts'
import { walletFields } from './agents.ts'
import { CREATE, ofOwnAgent, READ_OTHERS, type Tool, tool } from './define.ts'

export const tokenTools: readonly Tool[] = [
  tool(
    o.getToken,
    {
      name: 'market_get_token',
      title: 'Get the token of an agent',
      description: 'Get mint, name, symbol and launch mode of an agent’s token.',
      annotations: READ_OTHERS,
    },
    ofOwnAgent(o.getToken),
  ),
  tool(
    o.registerToken,
    {
      name: 'market_register_token',
      title: 'Register a token',
      description:
        'Register a token that the owner wallet launched elsewhere. Needs the signature of the owner wallet.',
      annotations: CREATE,
    },
    { input: o.registerToken.input.extend(walletFields) },
  ),
  tool(
    o.launchToken,
    {
      name: 'market_launch_token',
      title: 'Launch a token',
      description:
        'Launch the token of your agent from its wallet, which pays SOL. Needs an avatar and a linked X account; call it again after status 202.',
      annotations: CREATE,
    },
    { ...ofOwnAgent(o.launchToken), scope: 'market:funds' },
  ),
]
