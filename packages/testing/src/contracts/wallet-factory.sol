// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// A smart wallet with one ECDSA owner, who signs for it by ERC-1271.
contract Wallet1271 {
    address public owner;

    constructor(address o) {
        owner = o;
    }

    function isValidSignature(bytes32 h, bytes calldata s) external view returns (bytes4) {
        (address a, ECDSA.RecoverError e, ) = ECDSA.tryRecover(h, s);
        return e == ECDSA.RecoverError.NoError && a == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }

    function exec(address t, bytes calldata d) external {
        require(msg.sender == owner);
        (bool ok, ) = t.call(d);
        require(ok);
    }
}

/// Deploys such wallets at addresses known beforehand, as ERC-6492 needs.
contract WalletFactory {
    function addr(address o, bytes32 salt) public view returns (address) {
        return
            address(
                uint160(
                    uint256(
                        keccak256(
                            abi.encodePacked(
                                bytes1(0xff),
                                address(this),
                                salt,
                                keccak256(abi.encodePacked(type(Wallet1271).creationCode, abi.encode(o)))
                            )
                        )
                    )
                )
            );
    }

    function create(address o, bytes32 salt) external returns (address a) {
        a = addr(o, salt);
        if (a.code.length == 0) new Wallet1271{salt: salt}(o);
    }
}
