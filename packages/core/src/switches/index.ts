export { payoutSwitches, type SwitchState, WALLET_SWITCH } from './switch.ts'
export { isStopped, listSwitches, rejectWhileStopped, turnSwitch } from './switches.ts'
