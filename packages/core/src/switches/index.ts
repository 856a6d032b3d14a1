export { recordEpoch } from './store.ts'
export { payoutSwitches, type SwitchState, VENUE_SWITCH, WALLET_SWITCH } from './switch.ts'
export { findStopping, isStopped, listSwitches, rejectWhileStopped, turnSwitch } from './switches.ts'
