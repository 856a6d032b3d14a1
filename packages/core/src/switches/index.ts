export { payoutSwitches, type SwitchState, VENUE_SWITCH, WALLET_SWITCH } from './switch.ts'
export {
  findStopping,
  isStopped,
  listSwitches,
  rejectWhileStopped,
  turnOnByRule,
  turnSwitch,
  turnSwitchIn,
} from './switches.ts'
