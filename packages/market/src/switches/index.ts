export { listSwitches } from './list-switches.ts'
export { refuseWhileStopped } from './refuse-while-stopped.ts'
export type { SwitchState } from './switch.ts'
export { turnSwitch } from './turn-switch.ts'
