// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/interfaces/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// Emits a Transfer event of its own, which a careless reader takes for a payment.
contract Forger {
    event Transfer(address indexed from, address indexed to, uint256 value);

    function forge(address from, address to, uint256 v) external {
        emit Transfer(from, to, v);
    }
}

/// Pays several recipients in one transaction.
contract Batch {
    function pay(IERC20 t, address[] calldata to, uint256[] calldata v) external {
        for (uint256 i; i < to.length; ++i) SafeERC20.safeTransferFrom(t, msg.sender, to[i], v[i]);
    }
}
