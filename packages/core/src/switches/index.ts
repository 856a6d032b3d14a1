export { payoutSwitches, type SwitchState } from './switch.ts'
export { isStopped, listSwitches, rejectWhileStopped, turnSwitch } from './switches.ts'
