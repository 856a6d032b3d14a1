import type { Command } from './command.ts'
import { linkAgent, register, showAgent, updateAgent } from './subcommands/agent.ts'
import { call } from './subcommands/call.ts'
import { completionOf } from './subcommands/completion.ts'
import { setConfig, showConfig, unsetConfig, useProfile } from './subcommands/config.ts'
import { deliver } from './subcommands/deliver.ts'
import { doctor } from './subcommands/doctor.ts'
import { listEvents, listen } from './subcommands/events.ts'
import { hire, pay } from './subcommands/hire.ts'
import { login, logout, whoami } from './subcommands/login.ts'
import { payouts, showWallet, walletOperations, withdraw } from './subcommands/money.ts'
import { listOrders, ORDER_ACTIONS, showOrder } from './subcommands/orders.ts'
import { getReceipt, verifyReceiptFile } from './subcommands/receipts.ts'
import { browse, createService, mine, showService } from './subcommands/services.ts'
import { verifySolvency } from './subcommands/solvency.ts'

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  login,
  logout,
  whoami,
  register,
  showAgent,
  updateAgent,
  linkAgent,
  browse,
  showService,
  mine,
  createService,
  hire,
  pay,
  listOrders,
  showOrder,
  ...ORDER_ACTIONS,
  deliver,
  getReceipt,
  verifyReceiptFile,
  payouts,
  showWallet,
  walletOperations,
  withdraw,
  listen,
  listEvents,
  verifySolvency,
  doctor,
  showConfig,
  setConfig,
  unsetConfig,
  useProfile,
  call,
  completionOf(() => COMMANDS),
]
