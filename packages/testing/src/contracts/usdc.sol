// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";

/// What of USDC a payment meets: 6 decimals, EIP-3009 and the denylist. Anybody may mint and deny.
contract TestUsdc is ERC20, ERC3009 {
    mapping(address => bool) public denied;

    constructor(string memory n) ERC20(n, "USDC") EIP712(n, "2") {}

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function mint(address to, uint256 a) external {
        _mint(to, a);
    }

    function deny(address a, bool d) external {
        denied[a] = d;
    }

    function _update(address f, address t, uint256 v) internal override {
        require(!denied[f] && !denied[t], "Blacklistable: account is blacklisted");
        super._update(f, t, v);
    }
}
